import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { aFolder, anOpensslRequest, sign } from "../../../../../../test/support/network/certificates.ts";
import { aJoinedHost, aJoiner, join } from "../../../../../../test/support/hosts/joins.ts";
import type { FakeHost } from "../../../../../../test/support/hosts/fake-host.ts";
import { rentAndRun } from "../../../../../../test/support/rentals.ts";
import { until } from "../../../../../../test/support/until.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import { countAddressCall } from "../../../supply/hosts/addresses/address-proof-store.ts";

/** A joined host, connected from the loopback, that names another public address. */
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
  // A router hides nothing: hosts behind it name its address, or none that is public.
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
  // The operator named the proxy, and it still reports no address for the hosts behind it.
  await app.env.pool.query("update machines set agent_address = null where id = $1", [host.machineId]);
  assert.deepEqual(await look(), { addresses: 1, machines: 1 });
  assert.equal(told(), 3);
});

/** Listens at the address that a host names, and keeps the connections for the test to answer. */
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
  const app = await testApp(t, { notifications: { isPrivateAllowed: true } });
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

test("an answer to a call with anything but the nonce proves nothing", async (t) => {
  const app = await testApp(t, { notifications: { isPrivateAllowed: true } });
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
  const [app, open] = [await testApp(t), await testApp(t, { notifications: { isPrivateAllowed: true } })];
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
