import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { createServer } from "node:net";
import { test } from "node:test";
import tls from "node:tls";
import { ManualClock } from "../../../../../test/support/manual-clock.ts";
import { aReceiver } from "../../../../../test/support/notifications.ts";
import { aSelfSignedCertificate } from "../../../../../test/support/network/self-signed.ts";
import { createWebhookClient, resolverByDns, type Resolve } from "./client.ts";

const REQUEST = { headers: { "Content-Type": "application/json" }, body: Buffer.from("{}") };
const NOT_PUBLIC = { kind: "refused", text: "its name does not stand for public addresses only" };

function aClient(resolve: Resolve, isPrivateAllowed = false) {
  const client = createWebhookClient({ clock: new ManualClock(), resolve, isPrivateAllowed });
  return (url: string) => client(url, REQUEST, new AbortController().signal);
}

test("no connection goes to a name or text that stands for a private address", async (t) => {
  const receiver = await aReceiver(t);
  const at = (host: string) => `https://${host}:${receiver.port}/`;
  const by = (...addresses: readonly string[]) => aClient(async () => addresses);
  for (const host of [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f.1",
    "0.0.0.0",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[fe80::1]",
  ]) {
    assert.deepEqual(await by("203.0.113.1")(at(host)), NOT_PUBLIC, host);
  }
  for (const address of ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1", "fd00::1"]) {
    assert.deepEqual(await by(address)(at("rebound.example.com")), NOT_PUBLIC, address);
    // One private address among public ones is enough, in any place.
    assert.deepEqual(await by("8.8.8.8", address)(at("rebound.example.com")), NOT_PUBLIC, address);
  }
  assert.deepEqual(await by("8.8.8.8")("http://example.com/"), { kind: "refused", text: "is no https address" });
  assert.equal(receiver.calls.length, 0);
});

test("a name is resolved once, and the connection goes to the address that was checked", async (t) => {
  const [first, second] = [await aReceiver(t), await aReceiver(t)];
  const asked: string[] = [];
  const client = aClient(async (hostname) => {
    asked.push(hostname);
    // A name that resolves to another address on each query.
    return asked.length === 1 ? ["127.0.0.1"] : ["127.0.0.2"];
  }, true);
  assert.deepEqual(await client(`http://rebound.example.com:${first.port}/hook`), {
    kind: "delivered",
    text: "answered 200",
  });
  assert.deepEqual(asked, ["rebound.example.com"]);
  assert.equal(first.calls[0]?.headers.host, `rebound.example.com:${first.port}`);
  assert.equal(second.calls.length, 0);
});

test("over TLS the certificate must be for the name of the receiver, not for its address", async (t) => {
  const certificate = aSelfSignedCertificate("hooks.example.com");
  const receiver = await aReceiver(t, undefined, certificate);
  const client = aClient(async () => ["127.0.0.1"], true);
  const at = (host: string) => `https://${host}:${receiver.port}/hook`;
  const untrusted = await client(at("hooks.example.com"));
  assert.deepEqual([untrusted.kind, untrusted.text], ["retry", "could not be reached (DEPTH_ZERO_SELF_SIGNED_CERT)"]);
  const trusted = tls.getCACertificates("default");
  t.after(() => tls.setDefaultCACertificates(trusted));
  tls.setDefaultCACertificates([...trusted, certificate.cert]);
  assert.deepEqual(await client(at("hooks.example.com")), { kind: "delivered", text: "answered 200" });
  for (const host of ["other.example.com", "127.0.0.1"]) {
    const wrong = await client(at(host));
    assert.deepEqual([wrong.kind, wrong.text], ["retry", "could not be reached (ERR_TLS_CERT_ALTNAME_INVALID)"]);
  }
  assert.equal(receiver.calls.length, 1);
});

test("a name that does not exist now is tried again later", async () => {
  const missing = await aClient(async () => {
    throw Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" });
  })("https://nowhere.example.com/");
  assert.deepEqual(missing, { kind: "retry", text: "could not be reached (ENOTFOUND)" });
  assert.deepEqual(await aClient(async () => [])("https://nowhere.example.com/"), {
    kind: "retry",
    text: "its name has no address",
  });
});

test("a stop of the server ends a call that waits for a name", async () => {
  const stopping = new AbortController();
  const client = createWebhookClient({
    clock: new ManualClock(),
    resolve: () => new Promise(() => {}),
    isPrivateAllowed: false,
  });
  const call = client("https://slow.example.com/", REQUEST, stopping.signal);
  stopping.abort();
  assert.deepEqual(await call, { kind: "retry", text: "interrupted by a stop of the server" });
});

test("a receiver that switches protocols is refused like any other answer, and the call is over", async (t) => {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.write("HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  t.after(() => new Promise<void>((closed) => server.close(() => closed())));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const outcome = await aClient(async () => ["127.0.0.1"], true)(`http://switching.example.com:${port}/`);
  assert.deepEqual(outcome, { kind: "refused", text: "answered 101" });
});

test("names without an answer delay no other name", async () => {
  const server = createSocket("udp4");
  server.on("message", (question, { port, address }) => {
    if (question.includes("slow")) return;
    const isIpv4 = question.readUInt16BE(question.length - 4) === 1 || question.includes(Buffer.from([0, 0, 1, 0, 1]));
    const end = question.indexOf(0, 12) + 5;
    const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 8, 8, 8, 8]);
    const reply = Buffer.concat([question.subarray(0, end), isIpv4 ? answer : Buffer.alloc(0)]);
    reply.writeUInt16BE(0x8180, 2);
    reply.writeUInt16BE(isIpv4 ? 1 : 0, 6);
    reply.writeUInt32BE(0, 8);
    server.send(reply, port, address);
  });
  await new Promise<void>((bound) => server.bind(0, "127.0.0.1", bound));
  const resolve = resolverByDns([`127.0.0.1:${server.address().port}`]);
  const over: string[] = [];
  const slow = Array.from({ length: 16 }, (_, index) =>
    resolve(`slow${index}.example.com`).catch(() => over.push("slow")),
  );
  assert.deepEqual(await resolve("fast.example.com"), ["8.8.8.8"]);
  assert.deepEqual(over, []);
  server.close();
  await Promise.all(slow);
});
