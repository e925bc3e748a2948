// Agents that know several servers: the addresses that a server tells them, and the credentials that open each server.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { test, type TestContext } from "node:test";
import { WebSocket } from "ws";
import { KnownServers } from "../../../agent/src/link/servers.ts";
import type { KeptServers } from "../../../agent/src/link/servers-store.ts";
import { camelFields } from "../../../agent/src/wire/fields.ts";
import { parseServerUrl, ServerList } from "../../../protocol/index.ts";
import { testApp, type TestApp } from "../../../test/support/app.ts";
import type { FakeHost } from "../../../test/support/hosts/fake-host.ts";
import { aJoinedHost, aJoiner, join } from "../../../test/support/hosts/joins.ts";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { testDatabase } from "../../../test/support/database/postgres.ts";

const urlOf = ({ origin }: TestApp) => `http://${origin}`;

/** Two servers that know of each other, and a machine that joined the first one and is connected to it. */
async function world(t: TestContext) {
  // The database outlives the servers: hooks run in the order in which they were added.
  const env = await testDatabase();
  const shared = { env, clock: new ManualClock(), secret: randomBytes(32) };
  const one = await testApp(t, { ...shared, dataDirKey: "one" });
  const start = (dataDirKey: string) => testApp(t, { ...shared, dataDirKey });
  const two = await start("two");
  await one.runLoop("say-alive");
  const [owner, joiner] = [await one.caller(), aJoiner()];
  const credential = await join(one, owner, joiner);
  const host = aJoinedHost(one, credential, joiner);
  await host.connect();
  await host.report([]);
  return { one, two, start, owner, joiner, credential, host };
}

function toldTo(host: FakeHost): ServerList {
  const welcome = host.received.find((message) => message.kind === "welcome");
  return welcome?.servers ?? assert.fail("it was told of no servers");
}

/** The addresses that an agent knows after a server told it this list. */
function known(home: TestApp, credential: string, told: ServerList): KnownServers {
  let kept: KeptServers | undefined;
  const store = { load: () => kept, save: (servers: KeptServers) => (kept = servers) };
  const servers = new KnownServers({
    home: parseServerUrl(urlOf(home)) ?? assert.fail(),
    token: credential,
    given: [],
    store,
  });
  servers.learn(camelFields(ServerList, told));
  return servers;
}

/** A server's answer to a handshake: its status, and whether it is the server that the address promises. */
async function knock({ origin }: TestApp, headers: Readonly<Record<string, string>>) {
  const socket = new WebSocket(`ws://${origin}/agent`, { headers });
  socket.on("error", () => {});
  const upgraded = once(socket, "upgrade") as Promise<[IncomingMessage]>;
  const refused = once(socket, "unexpected-response") as Promise<[unknown, IncomingMessage]>;
  const response = await Promise.race([upgraded.then(([one]) => one), refused.then(([, other]) => other)]);
  socket.terminate();
  return { status: response.statusCode, proof: response.headers["berth-proof"] };
}

test("a machine that joined is told where all servers are, and hears with its reports of those that come and die", async (t) => {
  const { one, two, start, host } = await world(t);
  assert.deepEqual([...toldTo(host).addresses].toSorted(), [urlOf(one), urlOf(two)].toSorted());
  const three = await start("three");
  const heard = async () => {
    host.received.length = 0;
    await host.report([]);
    const news = host.received.find((message) => message.kind === "acknowledge");
    return news?.server_addresses?.toSorted();
  };
  assert.equal(await heard(), undefined, "nothing is told twice");
  await one.runLoop("say-alive");
  assert.deepEqual(await heard(), [urlOf(one), urlOf(two), urlOf(three)].toSorted());
  await one.reap();
  assert.deepEqual(await heard(), [urlOf(one)], "the others have been silent");
  assert.equal(await heard(), undefined);
});

test("an agent that a server started itself is told of no other one", async (t) => {
  const { one } = await world(t);
  const own = await one.host();
  assert.equal(own.received.find((message) => message.kind === "welcome")?.servers, undefined);
});

test("a pass opens the server that publishes its address and no other, which proves itself before it hears anything", async (t) => {
  const { one, two, host, credential } = await world(t);
  const servers = known(one, credential, toldTo(host));
  const authorization = `Bearer ${servers.bearer(urlOf(two))}`;
  const challenge = randomBytes(24).toString("base64url");
  const answer = await knock(two, { authorization, "berth-challenge": challenge });
  assert.equal(answer.status, 101);
  assert.ok(servers.isServer(urlOf(two), { challenge, proof: String(answer.proof) }));
  assert.equal((await knock(one, { authorization, "berth-challenge": challenge })).status, 401);
  // An address that no server publishes, where somebody passes on the credential that the agent shows.
  const lured = `Bearer ${servers.bearer("https://berht.example")}`;
  for (const server of [one, two]) {
    assert.equal((await knock(server, { authorization: lured, "berth-challenge": challenge })).status, 401);
  }
  const home = await knock(one, { authorization: `Bearer ${credential}`, "berth-challenge": challenge });
  assert.deepEqual([home.status, home.proof], [101, undefined]);
});

test("a machine that comes to another server by its pass is the same machine, with its proof and its streams", async (t) => {
  const { one, two, host, joiner, credential } = await world(t);
  const servers = known(one, credential, toldTo(host));
  const moved = aJoinedHost(two, servers.bearer(urlOf(two)), joiner);
  moved.proof = host.proof;
  host.terminate();
  await moved.connect({ gpus: [...host.gpus] });
  assert.equal(moved.machineId, host.machineId);
  const coming = one.app.gateway.openTunnel(moved.machineId, { instance_id: 1, service: "jupyter" });
  const asked = () => moved.received.findLast((message) => message.kind === "open_tunnel");
  await moved.report([]);
  const { tunnel_id: id = "" } = asked() ?? {};
  const stream = moved.dial(`tunnel/${id}`);
  stream.on("error", () => {});
  await once(stream, "open");
  (await coming)?.terminate();
  stream.terminate();
  await moved.disconnect();
});

test("a credential that was revoked opens no server by its passes either", async (t) => {
  const { one, two, host, owner, credential } = await world(t);
  const servers = known(one, credential, toldTo(host));
  const { rows } = await one.env.pool.query("select id from agent_credentials where fingerprint is not null");
  const url = `/api/v0/hosts/credentials/${rows[0]?.id}/`;
  const revoked = await one.call({ method: "DELETE", url, secret: owner.secret });
  assert.equal(revoked.status, 200, revoked.text);
  const late = aJoinedHost(two, servers.bearer(urlOf(two)), aJoiner());
  await assert.rejects(late.connect(), /refused: revoked/);
});
