// Streams of agents that come to another server than the one that waits for them.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { test, type TestContext } from "node:test";
import { WebSocket, type RawData } from "ws";
import { soon, testApp } from "../../../test/support/app.ts";
import type { FakeHost } from "../../../test/support/hosts/fake-host.ts";
import { inTransaction } from "../../../test/support/fixtures.ts";
import { aJoinedHost, aJoiner, join } from "../../../test/support/hosts/joins.ts";
import { ManualClock } from "../../../test/support/manual-clock.ts";
import { testDatabase } from "../../../test/support/database/postgres.ts";
import { proveServer } from "../domains/servers/index.ts";
import { startCopyTask } from "../domains/rental/tasks/index.ts";

const JOINED = JSON.stringify({ kind: "transfer_joined" });
const MEANS = { random: randomBytes, encryption: { encrypt: (text: string) => text, decrypt: () => undefined } };

async function twoServers(t: TestContext) {
  // The database outlives the servers: hooks run in the order in which they were added.
  const env = await testDatabase();
  const shared = { env, clock: new ManualClock(), secret: randomBytes(32) };
  const start = (dataDirKey: string) => testApp(t, { ...shared, dataDirKey });
  return { one: await start("one"), two: await start("two"), start, ...shared };
}

/** The texts received on a stream so far. */
function heardOn(socket: WebSocket): string[] {
  const heard: string[] = [];
  socket.on("error", () => {});
  socket.on("message", (data: RawData) => heard.push(String(data)));
  return heard;
}

/** The request for a tunnel that an agent got last. */
async function askedOf(host: FakeHost): Promise<string> {
  const find = () => host.received.findLast((message) => message.kind === "open_tunnel");
  await soon("the request for a tunnel", () => find() !== undefined);
  const message = find();
  assert.ok(message?.kind === "open_tunnel");
  return message.tunnel_id;
}

async function statusOf(socket: WebSocket): Promise<number | undefined> {
  socket.on("error", () => {});
  const answered = once(socket, "unexpected-response") as Promise<[unknown, { readonly statusCode?: number }]>;
  return Promise.race([once(socket, "open").then(() => 101), answered.then(([, { statusCode }]) => statusCode)]);
}

test("a tunnel that one server needs comes from an agent of another one, to whichever server the agent dials", async (t) => {
  const { one, two, start } = await twoServers(t);
  const three = await start("three");
  const host = await two.host();
  const target = { instance_id: 1, service: "jupyter" } as const;
  for (const dialled of [two, one, three]) {
    host.received.length = 0;
    const coming = one.app.gateway.openTunnel(host.machineId, target);
    const id = await askedOf(host);
    const headers = { authorization: host.bearer() };
    const agent = new WebSocket(`ws://${dialled.origin}/agent/tunnel/${id}`, { headers });
    const inside = heardOn(agent);
    await once(agent, "open");
    agent.send(Buffer.from("from inside"));
    const tunnel = await coming;
    assert.ok(tunnel);
    const outside = heardOn(tunnel);
    tunnel.resume();
    tunnel.send(Buffer.from("from outside"));
    await soon("both directions", () => inside.length === 1 && outside.length === 1);
    assert.deepEqual([inside, outside], [["from outside"], ["from inside"]]);
    const over = once(agent, "close");
    tunnel.close(1000);
    await over;
  }
});

test("a tunnel is for the agent that was asked, and an address of servers for servers with the secret", async (t) => {
  const { one, two, clock } = await twoServers(t);
  const [host, thief] = [await two.host(), await two.host()];
  const coming = one.app.gateway.openTunnel(host.machineId, { instance_id: 1, service: "ssh" });
  const id = await askedOf(host);
  assert.equal(await statusOf(thief.dial(`tunnel/${id}`)), 404);
  const path = `/server/tunnel/${id}`;
  const knock = (authorization: string) =>
    statusOf(new WebSocket(`ws://${one.origin}${path}`, { headers: { authorization } }));
  assert.equal(await knock(host.bearer()), 401);
  assert.equal(await knock(proveServer(randomBytes(32), { path, subject: 1 }, clock.now())), 401);
  const agent = host.dial(`tunnel/${id}`);
  assert.equal(await statusOf(agent), 101);
  assert.equal(await statusOf(host.dial(`tunnel/${id}`)), 404, "it is good once");
  (await coming)?.terminate();
  agent.terminate();
});

test("the two hosts of a copy meet, whichever servers they are connected to", async (t) => {
  const { one, two } = await twoServers(t);
  const user = await one.caller();
  const [here, there] = [await one.host(), await two.host()];
  await inTransaction(one.env.database, (tx) =>
    startCopyTask(tx, MEANS, {
      userId: user.id,
      source: { kind: "volume", id: 1, path: "/" },
      destination: { kind: "volume", id: 2, path: "/" },
      sourceMachineId: here.machineId,
      destinationMachineId: there.machineId,
      isFresh: true,
      isCompressed: true,
    }),
  );
  const [task] = await here.tasks(1);
  assert.ok(task?.action.type === "send");
  const { transfer_id: id } = task.action;
  assert.equal(await statusOf(there.dial(`transfer/${id}/send`)), 404);
  const [from, to] = [here.dial(`transfer/${id}/send`), there.dial(`transfer/${id}/receive`)];
  const [sent, received] = [heardOn(from), heardOn(to)];
  await soon("both to be joined", () => sent.length === 1 && received.length === 1);
  assert.deepEqual([sent, received], [[JOINED], [JOINED]]);
  from.send("all of it");
  await soon("it to arrive", () => received.length === 2);
  const over = once(from, "close");
  to.close(1000);
  assert.equal((await over)[0], 4410);
});

test("a copy of an agent that comes to another server is refused while the original answers", async (t) => {
  const { one, two } = await twoServers(t);
  const owner = await one.caller();
  const joiner = aJoiner();
  const credential = await join(one, owner, joiner);
  const host = aJoinedHost(one, credential, joiner);
  await host.connect();
  await host.report([]);
  const copy = aJoinedHost(two, credential, joiner);
  copy.proof = host.proof;
  const comes = () => copy.connect({ gpus: [...host.gpus] });
  await assert.rejects(comes(), /credential_cloned/);
  assert.equal(host.closeCode, undefined);
  await host.disconnect();
  // The agent itself may go to another server at any time.
  await comes();
  await copy.disconnect();
});
