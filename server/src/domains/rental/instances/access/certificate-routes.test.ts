import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createPrivateKey, generateKeyPairSync, X509Certificate } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { Certificates } from "../../../../../../agent/src/certificates/certificate.ts";
import { renewCertificates } from "../../../../../../agent/src/certificates/certificate-keeper.ts";
import { silentLog } from "../../../../../../agent/src/base/log.ts";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { aJoinedHost, aJoiner, join } from "../../../../../../test/support/joins.ts";
import type { FakeHost } from "../../../../../../test/support/fake-host.ts";
import { until } from "../../../../../../test/support/until.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import { countAddressCall } from "../../../supply/hosts/addresses/address-proof-store.ts";
import { aSelfSignedCertificate } from "../../../../../../test/support/self-signed.ts";
import { rentAndRun } from "../../../../../../test/support/rentals.ts";

const run = promisify(execFile);
const DAY_MS = 86_400_000;

async function aFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "berth-certificate-"));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}

/** What images do, with the program that they use. */
async function anOpensslRequest(folder: string, { key = "rsa:2048", san = "IP:0.0.0.0", digest = "-sha256" } = {}) {
  const file = path.join(folder, "instance.csr");
  const keyFile = path.join(folder, "instance.key");
  const subject = ["-subj", "/C=US/O=Somebody/CN=example.com", "-addext", `subjectAltName=${san}`];
  await run("openssl", ["req", "-new", "-newkey", key, "-nodes", digest, "-keyout", keyFile, "-out", file, ...subject]);
  return readFile(file, "utf8");
}

async function world(t: TestContext) {
  const app = await testApp(t);
  const [host, user] = [await app.host(), await app.caller()];
  const id = await rentAndRun(app, user, host);
  return { app, host, id };
}

async function sign({ origin }: TestApp, id: number | string, body: string, type = "application/octet-stream") {
  const url = `http://${origin}/api/v0/sign_cert/?instance_id=${id}`;
  const answer = await fetch(url, { method: "POST", headers: { "content-type": type }, body });
  return { status: answer.status, text: await answer.text(), type: answer.headers.get("content-type") };
}

const rootOf = async ({ origin }: TestApp) => (await fetch(`http://${origin}/static/jvastai_root.cer`)).text();

test("a request from the machine's address is signed for its key, and OpenSSL follows it to the root", async (t) => {
  const { app, id } = await world(t);
  const folder = await aFolder(t);
  const request = await anOpensslRequest(folder, { san: "IP:0.0.0.0,IP:203.0.113.9,DNS:bank.example" });
  const answer = await sign(app, id, request);
  assert.equal(answer.status, 200, answer.text);
  const [root, certificate] = [path.join(folder, "root.cer"), path.join(folder, "instance.crt")];
  await writeFile(root, await rootOf(app));
  await writeFile(certificate, answer.text);
  // By the clock of those who signed: the certificates are good for a while from then on.
  const when = ["-attime", String(Math.floor(app.clock.now().getTime() / 1000))];
  const { stdout } = await run("openssl", ["verify", ...when, "-purpose", "sslserver", "-CAfile", root, certificate]);
  assert.match(stdout, /: OK/);
  const issued = new X509Certificate(answer.text);
  // Only what is the machine's own: what else was asked for is left out.
  assert.equal(issued.subjectAltName, "IP Address:192.0.2.1, IP Address:0.0.0.0");
  assert.equal(issued.ca, false);
  assert.ok(issued.checkPrivateKey(createPrivateKey(await readFile(path.join(folder, "instance.key")))));
});

test("the root is made once, is no secret, and vouches for addresses only", async (t) => {
  const { app } = await world(t);
  const [first, ...others] = await Promise.all([rootOf(app), rootOf(app), rootOf(app)]);
  assert.deepEqual(others, [first, first]);
  const root = new X509Certificate(first ?? "");
  assert.equal(root.ca, true);
  const { rows } = await app.env.pool.query("select sealed_key from certificate_authorities");
  assert.equal(rows.length, 1);
  assert.match(rows[0].sealed_key, /^sealed1:/);
  const folder = await aFolder(t);
  await writeFile(path.join(folder, "root.cer"), first ?? "");
  const { stdout } = await run("openssl", ["x509", "-in", path.join(folder, "root.cer"), "-noout", "-text"]);
  assert.match(stdout, /Name Constraints: critical[^]*Permitted:[^]*IP:0.0.0.0\/0.0.0.0[^]*Excluded:[^]*DNS:/);
});

test("what the agent asks for is signed", async (t) => {
  const { app, id } = await world(t);
  const certificates = new Certificates({
    clock: app.clock,
    log: silentLog,
    serverUrl: `ws://${app.origin}/agent`,
    publicIpaddr: "192.0.2.1",
    fetch,
  });
  const [one, same] = await Promise.all([certificates.makeCertificate(id), certificates.makeCertificate(id)]);
  assert.equal(one.certificatePem, same.certificatePem);
  assert.deepEqual(await certificates.makeCertificate(id), one);
  const root = new X509Certificate(await rootOf(app));
  assert.ok(new X509Certificate(one.certificatePem).verify(root.publicKey));
});

/** A host that has joined, connected from the loopback, which names another public address. */
async function aClaimingHost(
  app: TestApp,
  public_ipaddr: string,
  {
    address_port,
    direct = [1024, 65_535],
  }: { readonly address_port?: number; readonly direct?: readonly number[] } = {},
) {
  const [owner, joiner] = [await app.caller(), aJoiner()];
  const [direct_port_start = 0, direct_port_end = 0] = direct;
  const facts = { public_ipaddr, direct_port_start, direct_port_end };
  const host = aJoinedHost(app, await join(app, owner, joiner), joiner, { facts });
  const engine = { kind: "docker", version: "1" } as const;
  await host.connect({ engine, ...(address_port === undefined ? {} : { address_port }) });
  await app.settled();
  return host;
}

function nonceOf(host: FakeHost): string | undefined {
  return host.received.find((message) => message.kind === "welcome")?.address_nonce;
}

async function namesOf(app: TestApp, id: number, request: string): Promise<string | undefined> {
  const answer = await sign(app, id, request);
  assert.equal(answer.status, 200, answer.text);
  return new X509Certificate(answer.text).subjectAltName;
}

test("a host that names another's address as its own gets certificates for the address that it connects from", async (t) => {
  const app = await testApp(t);
  const user = await app.caller();
  const victim = "203.0.113.9";
  const host = await aClaimingHost(app, victim);
  const id = await rentAndRun(app, user, host);
  const request = await anOpensslRequest(await aFolder(t), { san: `IP:0.0.0.0,IP:${victim}` });
  assert.equal(await namesOf(app, id, request), "IP Address:127.0.0.1, IP Address:0.0.0.0");
  const fromVictim = await app.app.http.app.inject({
    method: "POST",
    url: `/api/v0/sign_cert?instance_id=${id}`,
    headers: { "content-type": "application/octet-stream" },
    remoteAddress: victim,
    payload: request,
  });
  assert.equal(fromVictim.statusCode, 404);
});

test("machines of several hosts behind a proxy that hides them get no certificate for it, and the operator is told once a day", async (t) => {
  const app = await testApp(t);
  const user = await app.caller();
  const host = await aClaimingHost(app, "8.8.8.8");
  const id = await rentAndRun(app, user, host);
  const request = await anOpensslRequest(await aFolder(t));
  const look = () => app.runLoop("find-shared-addresses");
  const told = () => app.complaints.filter((line) => line.includes("a proxy seems to hide")).length;
  // One that hides nothing: hosts behind one router name its address, or none that is public.
  for (const named of ["127.0.0.1", "192.168.1.7"]) await aClaimingHost(app, named);
  assert.deepEqual(await look(), { addresses: 0, machines: 0 });
  assert.equal(await namesOf(app, id, request), "IP Address:127.0.0.1, IP Address:0.0.0.0");
  await aClaimingHost(app, "9.9.9.9");
  assert.deepEqual(await look(), { addresses: 1, machines: 4 });
  assert.equal((await sign(app, id, request)).status, 404);
  app.clock.jump(3_600_000);
  await look();
  assert.equal(told(), 1);
  app.clock.jump(86_400_000);
  await look();
  assert.equal(told(), 2);
  // The operator named the proxy, and it still says of nobody who is behind it.
  await app.env.pool.query("update machines set agent_address = null where id = $1", [host.machineId]);
  assert.deepEqual(await look(), { addresses: 1, machines: 1 });
  assert.equal(told(), 3);
});

/** Listens at the address that a host names, and says what it is given; counts who came. */
async function aDoor(t: TestContext, address: string) {
  const callers: Socket[] = [];
  const server = createServer((socket) => void callers.push(socket));
  server.listen(0, address);
  await once(server, "listening");
  t.after(() => {
    for (const caller of callers) caller.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, callers, server };
}

const isProven = async (app: TestApp, host: FakeHost) =>
  (await app.env.pool.query("select proven_address from machines where id = $1", [host.machineId])).rows[0]
    .proven_address as string | null;

test("a host that answers a call at its public address gets certificates for it, until its next connection", async (t) => {
  const app = await testApp(t, { notices: { isPrivateAllowed: true } });
  const user = await app.caller();
  const own = "127.0.0.77";
  const door = await aDoor(t, own);
  const host = await aClaimingHost(app, own, { address_port: door.port });
  const [caller] = door.callers.length > 0 ? door.callers : await once(door.server, "connection");
  (caller as Socket).end(nonceOf(host) ?? "");
  await until("the proof", async () => (await isProven(app, host)) === own);
  const id = await rentAndRun(app, user, host);
  const request = await anOpensslRequest(await aFolder(t));
  assert.equal(await namesOf(app, id, request), `IP Address:${own}, IP Address:0.0.0.0`);

  const other = await aClaimingHost(app, "203.0.113.9");
  await app.env.pool.query("update machines set agent_address = $1 where id = $2", [`::ffff:${own}`, other.machineId]);
  assert.equal(await namesOf(app, id, request), "IP Address:127.0.0.1, IP Address:0.0.0.0", "another host is there");
  await other.disconnect();

  await host.disconnect();
  await host.connect({ engine: { kind: "docker", version: "1" } });
  assert.equal(await isProven(app, host), null);
  assert.equal(await namesOf(app, id, request), "IP Address:127.0.0.1, IP Address:0.0.0.0");
});

test("who answers a call with anything but the nonce has proven nothing", async (t) => {
  const app = await testApp(t, { notices: { isPrivateAllowed: true } });
  const door = await aDoor(t, "127.0.0.78");
  const host = await aClaimingHost(app, "127.0.0.78", { address_port: door.port });
  const [caller] = (door.callers.length > 0 ? door.callers : await once(door.server, "connection")) as Socket[];
  assert.ok(caller);
  const over = once(caller, "close");
  caller.write(`${nonceOf(host)} and more`);
  await over;
  assert.equal(await isProven(app, host), null);
});

test("a host cannot make the server call others: not their networks, not their services, and not often", async (t) => {
  const [app, open] = [await testApp(t), await testApp(t, { notices: { isPrivateAllowed: true } })];
  const door = await aDoor(t, "127.0.0.79");
  const asks: readonly (readonly [TestApp, string, { address_port?: number; direct?: readonly number[] }])[] = [
    [app, "127.0.0.79", { address_port: door.port }],
    [app, "10.0.0.1", { address_port: door.port }],
    [app, "169.254.169.254", { address_port: 8080 }],
    [open, "127.0.0.79", {}],
    [open, "localhost", { address_port: door.port }],
    [open, "127.0.0.79", { address_port: 22, direct: [1, 65_535] }],
    [open, "127.0.0.79", { address_port: door.port, direct: [door.port + 1, 65_535] }],
  ];
  for (const [world, address, claim] of asks) {
    const host = await aClaimingHost(world, address, claim);
    assert.equal(nonceOf(host), undefined, `${address} ${JSON.stringify(claim)}`);
  }
  const host = await aClaimingHost(open, "127.0.0.79", { address_port: door.port });
  await until("the call", () => door.callers.length === 1);
  await withTransaction(open.env.database, open.clock, async (tx) => {
    const { rows } = await open.env.pool.query("select session_number from machines where id = $1", [host.machineId]);
    const registration = { machineId: host.machineId, sessionNumber: rows[0].session_number as number };
    const counted: boolean[] = [];
    for (let call = 2; call <= 11; call += 1) counted.push(await countAddressCall(tx, registration));
    assert.deepEqual(counted, [...Array<boolean>(9).fill(true), false]);
    assert.equal(await countAddressCall(tx, { ...registration, sessionNumber: registration.sessionNumber - 1 }), false);
  });
  // The server closes once its call is over.
  for (const caller of door.callers) caller.destroy();
});

test("a certificate ends a day after its rental, and never lasts longer than browsers accept", async (t) => {
  const { app, id } = await world(t);
  const request = await anOpensslRequest(await aFolder(t));
  const endOf = async () => new Date(new X509Certificate((await sign(app, id, request)).text).validTo);
  const nowMs = app.clock.now().getTime();
  for (const [days, expected] of [
    [3, 4],
    [2000, 397],
  ] as const) {
    const endAt = new Date(nowMs + days * DAY_MS);
    await app.env.pool.query("update instances set end_at = $1 where id = $2", [endAt, id]);
    assert.equal(
      (await endOf()).toISOString().slice(0, 10),
      new Date(nowMs + expected * DAY_MS).toISOString().slice(0, 10),
    );
  }
});

test("a prolonged rental gets its next certificate before the old one ends, while it runs, for the key that it has", async (t) => {
  const { app, id } = await world(t);
  const { pool } = app.env;
  const endsIn = (days: number) =>
    pool.query("update instances set end_at = $1 where id = $2", [
      new Date(app.clock.now().getTime() + days * DAY_MS),
      id,
    ]);
  await endsIn(3);
  const { clock } = app;
  const certificates = new Certificates({
    clock,
    log: silentLog,
    serverUrl: `ws://${app.origin}/agent`,
    publicIpaddr: "192.0.2.1",
    fetch,
  });
  const made = await certificates.makeCertificate(id);
  const files = new Map([
    ["instance.crt", made.certificatePem],
    ["instance.key", made.keyPem],
  ]);
  let writes = 0;
  let isRunning = true;
  const look = () =>
    renewCertificates({
      clock,
      log: silentLog,
      isRunning: () => isRunning,
      renewCertificate: (instanceId, keyPem) => certificates.renewCertificate(instanceId, keyPem),
      disks: {
        list: async () => [id],
        readPlatformFile: async (_id, name) => files.get(name),
        rewritePlatformFile: async (_id, name, content) => {
          writes += 1;
          files.set(name, content);
        },
      },
    });
  const present = () => new X509Certificate(files.get("instance.crt") ?? "");
  const lookAfter = async (days: number) => {
    clock.jump(days * DAY_MS);
    await look();
  };
  const daysLeft = () => (new Date(present().validTo).getTime() - clock.now().getTime()) / DAY_MS;

  await lookAfter(1);
  assert.equal(writes, 0, "less than half of its time is over");
  // At its last moment: the certificate lasts for another day.
  clock.jump(1.9 * DAY_MS);
  await endsIn(30);
  isRunning = false;
  await look();
  assert.equal(writes, 0, "nobody serves with it");
  isRunning = true;
  await look();
  assert.equal(writes, 1);
  assert.ok(Math.abs(daysLeft() - 31) < 0.01, String(daysLeft()));
  assert.ok(present().checkPrivateKey(createPrivateKey(made.keyPem)));
  assert.ok(present().verify(new X509Certificate(await rootOf(app)).publicKey));
  assert.deepEqual(await certificates.makeCertificate(id), { ...made, certificatePem: files.get("instance.crt") });

  // What the renter put there instead is not touched, and its key is not worked with.
  const own = aSelfSignedCertificate("renter.example");
  for (const [certificate, key] of [
    [own.cert, own.key],
    ["", ""],
    ["-----BEGIN CERTIFICATE-----\n", own.key],
    [files.get("instance.crt") ?? "", "no key"],
    [
      files.get("instance.crt") ?? "",
      generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }),
    ],
  ] as const) {
    files.set("instance.crt", certificate).set("instance.key", String(key));
    await lookAfter(16);
    await endsIn(30);
    assert.equal(writes, 1);
  }
});

test("from another address, for an unknown instance or for one that has ended nothing is signed", async (t) => {
  const { app, host, id } = await world(t);
  const request = await anOpensslRequest(await aFolder(t));
  for (const unknown of [id + 1_000_000, 0, -1, 2_147_483_648]) {
    assert.equal((await sign(app, unknown, request)).status, 404);
  }
  assert.equal((await sign(app, "x", request)).status, 400);
  const elsewhere = await app.app.http.app.inject({
    method: "POST",
    url: `/api/v0/sign_cert?instance_id=${id}`,
    headers: { "content-type": "application/octet-stream" },
    remoteAddress: "198.51.100.4",
    payload: request,
  });
  assert.equal(elsewhere.statusCode, 404);
  assert.equal(elsewhere.json().error, "no_such_instance");
  await host.disconnect();
  assert.equal((await sign(app, id, request)).status, 404, "the loopback is nobody's address when its agent is away");
});

test("a request that is none, or for a key that is too weak, is refused by the name of what is wrong", async (t) => {
  const { app, id } = await world(t);
  const folder = await aFolder(t);
  const good = await anOpensslRequest(folder);
  const lines = good.trim().split("\n");
  const forged = [...lines.slice(0, -3), (lines.at(-3) ?? "").toLowerCase(), ...lines.slice(-2)].join("\n");
  const wrong: readonly (readonly [string, RegExp])[] = [
    ["", /certificate signing request/],
    ["hello", /certificate signing request/],
    ["-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n", /certificate signing request/],
    [forged, /not signed with the key|certificate signing request/],
    [await anOpensslRequest(folder, { key: "rsa:1024" }), /2048/],
    [await anOpensslRequest(folder, { digest: "-sha1" }), /SHA-256/],
  ];
  for (const [body, reason] of wrong) {
    const answer = await sign(app, id, body);
    assert.equal(answer.status, 400, answer.text);
    assert.equal(JSON.parse(answer.text).field, "body");
    assert.match(answer.text, reason);
  }
  assert.equal((await sign(app, id, "x".repeat(20_000))).status, 413);
  assert.equal((await sign(app, id, good, "application/x-www-form-urlencoded")).status, 200, "as curl sends it");
  assert.equal((await sign(app, id, JSON.stringify(good), "application/json")).status, 200);
  assert.equal((await sign(app, id, "{}", "application/json")).status, 400);
});
