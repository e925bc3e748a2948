// Clients that send too slowly, too much, or in another protocol, over real connections.
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { after, test } from "node:test";
import { aCaller, aKey, inTransaction } from "../../../test/support/fixtures.ts";
import { NO_LIMITS, testHttp } from "../../../test/support/network/http.ts";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { testDatabase } from "../../../test/support/database/postgres.ts";
import { until } from "../../../test/support/until.ts";
import { registerDocs } from "./docs.ts";
import { asParameters } from "../base/access.ts";
import type { HttpScope } from "./server.ts";
import { parseTrustedProxies } from "./trusted-proxies.ts";

const { database } = await testDatabase();
const { secret } = await aCaller(database);
const MIB = 1_048_576;

function routes({ app }: HttpScope): void {
  const open = { access: { operation: "api.open.create", permission: "public" } } as const;
  app.post("/open/", { config: open, bodyLimit: 4 * MIB }, async (request) => ({ body: request.body }));
  const large = { access: { operation: "api.large.show", permission: "public" } } as const;
  app.get("/large/:mib/", { config: large }, async ({ params }) => {
    largeCount += 1;
    return { text: "x".repeat(Number(asParameters(params)["mib"]) * MIB) };
  });
  const known = { access: { operation: "api.known.create", permission: "misc" } } as const;
  app.post("/known/", { config: known }, async (request) => ({ body: request.body }));
}

let largeCount = 0;
const clock = new ManualClock();
const server = await testHttp(database, routes, { clock });
await server.scope.app.listen({ port: 0, host: "127.0.0.1" });
after(() => server.scope.app.close());
const [address] = server.scope.app.addresses();
assert.ok(typeof address === "object");
const { port } = address;

/** A connection that has sent `text`, with what has come back so far. */
function send(
  text: string,
  localAddress = "127.0.0.1",
): { readonly socket: Socket; received: string; isClosed: boolean } {
  const state = { socket: connect({ port, host: "127.0.0.1", localAddress }), received: "", isClosed: false };
  state.socket.on("data", (chunk) => (state.received += String(chunk)));
  state.socket.on("error", () => {}); // A connection that the server cut off.
  state.socket.on("close", () => (state.isClosed = true));
  state.socket.write(text);
  after(() => state.socket.destroy());
  return state;
}

const closed = (state: { readonly isClosed: boolean }) =>
  until("the server closes the connection", () => state.isClosed);

/** Asserts status and documented body of a whole answer on a connection. */
function assertRefused(received: string, status: number, code: string): void {
  assert.match(received, new RegExp(`^HTTP/1\\.1 ${status} `));
  const [head = "", body = ""] = received.split("\r\n\r\n");
  assert.match(head, /content-type: application\/json(\r|$)/i);
  const { success, error, msg, request_id: requestId } = JSON.parse(body);
  assert.deepEqual({ success, error }, { success: false, error: code });
  assert.ok(typeof msg === "string" && msg !== "");
  assert.equal(/x-request-id: (\S+)/i.exec(head)?.[1], requestId);
}

const begun = (length: number, path = "/open/", headers = "") =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n${headers}\r\n{`;

/** The server has read everything that was sent on other connections before this request. */
async function roundTrip(): Promise<void> {
  const probe = send("GET /nothing/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  await closed(probe);
}

test("a body that does not arrive in time is answered with 408, and its connection is closed", async () => {
  const strangers = send(begun(100));
  const known = send(begun(100, "/known/", `Authorization: Bearer ${secret}\r\n`));
  await roundTrip();
  await until("the bodies are being read", async () => {
    clock.advance(11_000);
    await roundTrip();
    return strangers.isClosed;
  });
  assertRefused(strangers.received, 408, "request_timeout");
  await until("a caller with a key has more time, but not for ever", async () => {
    clock.advance(11_000);
    await roundTrip();
    return known.isClosed;
  });
  assertRefused(known.received, 408, "request_timeout");
});

test("strangers with slow bodies hold a bounded part of the memory, and others are still served", async () => {
  const slow = Array.from({ length: 150 }, (_, index) => send(begun(4 * MIB), `127.0.1.${index % 50}`));
  await until("each of them is being read or refused", async () => {
    await roundTrip();
    return slow.filter(({ received }) => received !== "").length === 150 - 16;
  });
  for (const { received } of slow) if (received !== "") assertRefused(received, 503, "busy");
  const caller = send(`${begun(2, "/known/", `Authorization: Bearer ${secret}\r\nConnection: close\r\n`)}}`);
  await closed(caller);
  assert.match(caller.received, /^HTTP\/1\.1 200 /);
  clock.advance(11_000);
  for (const state of slow) await closed(state);
  const later = send(`${begun(2, "/open/", "Connection: close\r\n")}}`);
  await closed(later);
  assert.match(later.received, /^HTTP\/1\.1 200 /, "the memory of those that were cut off is free again");
});

test("few addresses that fill the memory for bodies shut no other address out", async () => {
  for (const [senders, bytes, each] of [
    [4, 4 * MIB, 4],
    [64, MIB, 1],
  ] as const) {
    const slow = Array.from({ length: senders * each }, (_, index) => send(begun(bytes), `127.0.3.${index % senders}`));
    await roundTrip();
    const strangers = Array.from({ length: 10 }, (_, index) => {
      const body = `${begun(60_002, "/open/", "Connection: close\r\n")}${" ".repeat(60_000)}}`;
      return send(body, `127.0.4.${index}`);
    });
    for (const stranger of strangers) {
      await closed(stranger);
      assert.match(stranger.received, /^HTTP\/1\.1 200 /, `${senders} addresses`);
    }
    const cutOff = slow.filter(({ received }) => received !== "");
    assert.ok(cutOff.length >= 1 && cutOff.length <= 10, `${cutOff.length} of ${slow.length} made room`);
    for (const { received } of cutOff) assertRefused(received, 503, "busy");
    clock.advance(11_000);
    for (const state of slow) await closed(state);
  }
});

test("strangers who do not read their answers hold a bounded part of the memory, and others are still served", async () => {
  const before = largeCount;
  const unread = Array.from({ length: 12 }, (_, index) => {
    const socket = connect({ port, host: "127.0.0.1", localAddress: `127.0.5.${index}` }).pause();
    socket.on("error", () => {}); // A connection that the server cut off.
    socket.write("GET /large/16/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    after(() => socket.destroy());
    return socket;
  });
  await until("each was asked for", () => largeCount === before + unread.length);
  await roundTrip();
  const other = send("GET /large/1/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "127.0.6.1");
  await closed(other);
  assert.match(other.received, /^HTTP\/1\.1 200 /);
  const [one, ...rest] = unread;
  const statuses = await Promise.all(rest.map(async (socket) => (await readAll(socket)).status));
  const refusedCount = statuses.filter((status) => status !== "HTTP/1.1 200").length;
  assert.ok(refusedCount >= 3, `${refusedCount} of ${rest.length} were refused: ${statuses.join()}`);
  clock.advance(601_000);
  const late = await readAll(one ?? assert.fail());
  assert.ok(late.length < 16 * MIB, "what is not read in ten minutes is cut off");
});

/** Reads a connection that was not read so far, to its end. */
async function readAll(socket: Socket): Promise<{ readonly status: string; readonly length: number }> {
  let [status, length] = ["", 0];
  socket.on("data", (chunk: Buffer) => {
    if (length === 0) status = chunk.toString("latin1", 0, 12);
    length += chunk.length;
  });
  let isClosed = socket.closed;
  socket.on("close", () => (isClosed = true));
  socket.resume();
  await until("the connection ends", () => isClosed);
  return { status, length };
}

test("one address has 512 connections at most, and this machine as many as it wants", async () => {
  const isOpen = ({ socket, isClosed }: { readonly socket: Socket; readonly isClosed: boolean }) =>
    !isClosed && !socket.connecting;
  const many = Array.from({ length: 520 }, () => send("", "127.0.2.1"));
  await until("the rest is refused", () => many.filter(({ isClosed }) => isClosed).length === 8);
  assert.equal(many.filter(isOpen).length, 512);
  for (const { socket } of many) socket.destroy();
  await until("what is closed is forgotten", async () => {
    const one = send("GET /nothing/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "127.0.2.1");
    await closed(one);
    return one.received !== "";
  });
  const own = Array.from({ length: 520 }, () => send(""));
  await until("all are accepted", () => own.every(({ socket }) => !socket.connecting));
  await roundTrip();
  assert.ok(own.every(isOpen));
  for (const { socket } of own) socket.destroy();
});

test("a client that offers HTTP/2 is served as plain HTTP/1.1", async () => {
  for (const upgrade of ["h2c", "H2C", "websocket", "TLS/1.0"]) {
    const headers = `Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: ${upgrade}\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n`;
    const client = send(`${begun(2, "/open/", headers)}}`);
    await closed(client);
    assert.match(client.received, /^HTTP\/1\.1 200 /, upgrade);
    assert.match(client.received, /\{"body":\{\}\}$/);
  }
  const prior = send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  await closed(prior);
  assertRefused(prior.received, 505, "http_version");
});

test("errors before a request is known have the documented body", async () => {
  const refusals = [
    [`GET /open/ HTTP/1.1\r\nHost: x\r\nA: ${"a".repeat(20_000)}\r\n\r\n`, 431, "headers_too_large"],
    ["GET /open/ HTTP/1.1\r\n\r\n", 400, "invalid_request"],
    ["\u0016\u0003\u0001 hello\r\n\r\n", 400, "invalid_request"],
    ["BREW /open/ HTTP/1.1\r\nHost: x\r\n\r\n", 400, "invalid_request"],
    ["GET /open/ HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n", 417, "expectation_failed"],
  ] as const;
  for (const [text, status, code] of refusals) {
    const client = send(text);
    // A request without Host is answered like any other, so its connection may live on.
    await until(`an answer to ${text.slice(0, 40)}`, () => client.received.includes("request_id"));
    assertRefused(client.received, status, code);
  }
});

test("the keys of an account share its limit", async () => {
  const limits = { ...NO_LIMITS, default: { perSecond: 1, burst: 1 } };
  const limited = await testHttp(database, routes, { clock: new ManualClock(), limits });
  const owner = await aCaller(database);
  const statuses: number[] = [];
  for (let count = 0; count < 5; count += 1) {
    const key = await inTransaction(database, (tx) => aKey(tx, owner));
    statuses.push((await limited.call({ method: "POST", url: "/known/", secret: key.secret })).status);
  }
  assert.deepEqual(statuses, [200, 200, 200, 200, 429]);
});

test("all operations together have a limit of the account", async () => {
  const limits = { ...NO_LIMITS, default: { perSecond: 1, burst: 1 } };
  const many = ({ app }: HttpScope) => {
    for (let number = 0; number < 30; number += 1) {
      const access = { operation: `api.thing${number}.show`, permission: "misc" } as const;
      app.get(`/things/${number}/`, { config: { access } }, async () => ({}));
    }
  };
  const limited = await testHttp(database, many, { clock: new ManualClock(), limits });
  const owner = await aCaller(database);
  const statuses: number[] = [];
  for (let number = 0; number < 30; number += 1) {
    const key = await inTransaction(database, (tx) => aKey(tx, owner));
    statuses.push((await limited.call({ url: `/things/${number}/`, secret: key.secret })).status);
  }
  assert.equal(statuses.filter((status) => status === 200).length, 20);
  assert.deepEqual([...new Set(statuses.slice(20))], [429]);
  assert.equal((await limited.call({ url: "/things/0/", secret: (await aCaller(database)).secret })).status, 200);
});

test("no answer is kept by a cache, and a page loads nothing from elsewhere", async () => {
  const pages = await testHttp(database, (scope) => {
    routes(scope);
    registerDocs(scope);
  });
  const json = await pages.call({ method: "POST", url: "/known/", secret });
  const refused = await pages.call({ method: "POST", url: "/known/" });
  const page = await pages.call({ url: "/docs" });
  for (const { headers } of [json, refused, page]) {
    assert.deepEqual([headers["cache-control"], headers["x-content-type-options"]], ["no-store", "nosniff"]);
  }
  assert.match(String(page.headers["content-security-policy"]), /^default-src 'none';/);
});

test("the address of a client is what trusted proxies say, and never what the client says", async () => {
  const forwarded = { "x-forwarded-for": "6.6.6.6, 203.0.113.5, 10.0.0.9" };
  const cases = [
    ["", "192.0.2.1", "192.0.2.1"],
    ["0", "192.0.2.1", "192.0.2.1"],
    ["1", "192.0.2.1", "10.0.0.9"],
    ["2", "192.0.2.1", "203.0.113.5"],
    ["10.0.0.0/8, 192.0.2.1", "192.0.2.1", "203.0.113.5"],
    ["10.0.0.0/8", "192.0.2.1", "192.0.2.1"],
    ["10.0.0.0/8", "::ffff:10.1.2.3", "203.0.113.5"],
  ] as const;
  for (const [setting, from, expected] of cases) {
    const trustedProxies = parseTrustedProxies(setting);
    assert.ok(trustedProxies !== undefined);
    const ips: string[] = [];
    const behind = await testHttp(
      database,
      (scope) => {
        routes(scope);
        scope.app.addHook("onResponse", async (request) => void ips.push(request.ip));
      },
      { trustedProxies },
    );
    await behind.call({ method: "POST", url: "/open/", headers: forwarded, from });
    assert.deepEqual(ips, [expected], `${setting || "nothing"} trusted, from ${from}`);
  }
  for (const text of ["11", "-1", "yes", "10.0.0.0/33", "10.0.0.1,", "example.com"]) {
    assert.equal(parseTrustedProxies(text), undefined, text);
  }
});
