import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { WebSocket, WebSocketServer } from "ws";
import { answerUplinkProbe } from "../../../agent/src/streams/uplink-probe.ts";
import { silentLog } from "../../../agent/src/base/log.ts";
import { fail } from "../../../agent/src/engine/engine.ts";
import { createTunnels } from "../../../agent/src/streams/tunnel.ts";
import { camelFields } from "../../../agent/src/wire/fields.ts";
import { OpenTunnel } from "../../../protocol/index.ts";
import { testApp } from "../../../test/support/app.ts";
import type { FakeHost } from "../../../test/support/hosts/fake-host.ts";
import { aJoinedHost, aJoiner, join } from "../../../test/support/hosts/joins.ts";
import { systemClock, type Clock } from "../base/clock.ts";
import { measureCpu } from "./cpu-probe.ts";
import { uplinkProbeLoop } from "./loops/uplink-probe.ts";
import { measureUplink, STREAMS, type ProbeBounds } from "./uplink-probe.ts";

const BYTES = 1_000_000;
const BOUNDS: ProbeBounds = { sendMs: 60_000, bytesPerStream: BYTES, answerMs: 60_000 };

/** Two tunnels at the server's end, with an agent at the far ends. */
async function tunnels(t: TestContext, answer: (agentEnd: WebSocket) => void): Promise<readonly WebSocket[]> {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  t.after(() => server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const opened: WebSocket[] = [];
  for (const _ of [1, 2]) {
    const arrival = once(server, "connection") as Promise<[WebSocket]>;
    answer(new WebSocket(`ws://127.0.0.1:${port}`).on("error", () => {}));
    const [tunnel] = await arrival;
    tunnel.pause();
    opened.push(tunnel);
  }
  t.after(() => opened.forEach((tunnel) => tunnel.terminate()));
  return opened;
}

test("an uplink is measured in both directions, and no tunnel is left", async (t) => {
  const opened = await tunnels(t, (end) => answerUplinkProbe(end, systemClock));
  const speed = await measureUplink(opened, systemClock, BOUNDS);
  assert.ok(speed !== undefined && speed.upMbps > 0 && speed.downMbps > 0);
  for (const tunnel of opened) assert.notEqual(tunnel.readyState, tunnel.OPEN);
});

test("an agent that answers before it received all, or goes away, is not believed", async (t) => {
  const hasty = await tunnels(t, (end) => end.once("message", () => end.send(randomBytes(32))));
  assert.equal(await measureUplink(hasty, systemClock, BOUNDS), undefined);
  const leaving = await tunnels(t, (end) => end.once("message", () => end.terminate()));
  assert.equal(await measureUplink(leaving, systemClock, BOUNDS), undefined);
});

test("an agent sends bytes only after the mark, and ends a tunnel in which the server goes on", async (t) => {
  const [tunnel] = await tunnels(t, (end) => answerUplinkProbe(end, systemClock));
  assert.ok(tunnel !== undefined);
  tunnel.resume();
  const answer = once(tunnel, "message") as Promise<[Buffer]>;
  tunnel.send(randomBytes(65_536));
  tunnel.send(Buffer.alloc(32, 7));
  assert.deepEqual((await answer)[0], Buffer.alloc(32, 7));
  tunnel.send(randomBytes(100));
  await once(tunnel, "close");
});

test("a processor is measured by a puzzle, and a wrong or missing answer is not believed", async (t) => {
  const one = async (answer: (end: WebSocket) => void, clock: Clock = systemClock) => {
    const [tunnel] = await tunnels(t, answer);
    assert.ok(tunnel !== undefined);
    const rate = await measureCpu(tunnel, clock);
    assert.notEqual(tunnel.readyState, tunnel.OPEN);
    return rate;
  };
  const rate = await one((end) => answerUplinkProbe(end, systemClock));
  assert.ok(rate !== undefined && rate > 0);
  assert.equal(await one((end) => end.once("message", () => end.send(randomBytes(32)))), undefined);
  assert.equal(await one((end) => end.once("message", () => end.send(randomBytes(1_000)))), undefined);
  assert.equal(await one((end) => end.once("message", () => end.terminate())), undefined);
  const impatient = { ...systemClock, sleep: async () => {} };
  assert.equal(await one((end) => end.on("message", () => {}), impatient), undefined, "an older agent is silent");
});

test("an agent solves one puzzle of a tunnel, and ends a tunnel that asks for more", async (t) => {
  const [tunnel] = await tunnels(t, (end) => answerUplinkProbe(end, systemClock));
  assert.ok(tunnel !== undefined);
  tunnel.resume();
  tunnel.send(randomBytes(48));
  tunnel.send(randomBytes(48));
  await once(tunnel, "close");
});

/** Opens the tunnels that the server asks a fake host for, as the real agent does. */
function answerAsAgent(
  t: TestContext,
  host: FakeHost,
  { origin, credential }: { readonly origin: string; readonly credential: string },
): void {
  const agent = createTunnels({
    clock: systemClock,
    log: silentLog,
    serverUrl: () => `ws://${origin}/agent`,
    token: () => credential,
    ssh: undefined,
    followLog: async () => fail("not_found", "no log"),
    addressOf: () => undefined,
  });
  let answered = 0;
  const timer = setInterval(() => {
    const asked = host.received.flatMap((message) => (message.kind === "open_tunnel" ? [message] : []));
    for (const request of asked.slice(answered)) agent.open(camelFields(OpenTunnel, request));
    answered = asked.length;
  }, 2);
  t.after(() => {
    clearInterval(timer);
    agent.close();
  });
}

/** A stranger's machine whose agent can be measured, and answers. */
async function aMeasuredHost(t: TestContext) {
  const world = await testApp(t);
  const owner = await world.caller();
  const joiner = aJoiner();
  const credential = await join(world, owner, joiner);
  const host = aJoinedHost(world, credential, joiner, { gpus: 1 });
  const docker = { engine: { kind: "docker", version: "27" } } as const;
  const real = world.app.gateway;
  await host.connect(docker);
  assert.deepEqual(real.measurable(), [], "an agent of an older version cannot be measured");
  await host.disconnect();
  await host.connect({ ...docker, measures_line: true });
  assert.deepEqual(real.measurable(), [host.machineId]);
  answerAsAgent(t, host, { origin: world.origin, credential });
  const clock = { ...systemClock, now: () => world.clock.now() };
  return { world, owner, host, real, clock };
}

test("a stranger's real machine is measured once a day, and again an hour after it did not answer", async (t) => {
  const { world, owner, host, real, clock } = await aMeasuredHost(t);
  let answers = true;
  const gateway = {
    measurable: () => real.measurable(),
    openTunnel: async (...asked: Parameters<typeof real.openTunnel>) =>
      answers ? real.openTunnel(...asked) : undefined,
  };
  const { database } = world.env;
  const loop = uplinkProbeLoop({ database, clock, gateway, measuredFrom: "here", bounds: BOUNDS });
  const HOUR_MS = 3_600_000;
  assert.deepEqual(await loop.run(), { measured: 1, silent: 0, slow: 0 });
  world.clock.jump(19 * HOUR_MS);
  assert.deepEqual(await loop.run(), { measured: 0, silent: 0, slow: 0 });
  world.clock.jump(2 * HOUR_MS);
  answers = false;
  assert.deepEqual(await loop.run(), { measured: 0, silent: 1, slow: 0 });
  assert.deepEqual(await loop.run(), { measured: 0, silent: 0, slow: 0 });
  world.clock.jump(2 * HOUR_MS);
  answers = true;
  assert.deepEqual(await loop.run(), { measured: 1, silent: 0, slow: 0 });
  const path = `/api/v0/machines/${host.machineId}/verification/`;
  const { body } = await world.call({ url: path, secret: owner.secret });
  assert.equal(body.line.measured_count, 2);
  assert.ok(body.line.measured_inet_up > 0 && body.line.inet_up > 0);
  const listed = await world.call({ url: "/api/v0/benchmarks/", secret: (await world.caller()).secret });
  const at = world.clock.now().getTime() / 1000;
  type Row = Readonly<Record<"type" | "measured_by" | "value" | "machine_id" | "last_update", unknown>>;
  assert.deepEqual(
    listed.body.benchmarks.map((row: Row) => [row.type, row.measured_by, row.machine_id, row.last_update]),
    [
      ["upload", "server", host.machineId, at],
      ["download", "server", host.machineId, at],
      ["cpu", "server", host.machineId, at],
      ["disk", "agent", host.machineId, at],
    ],
    "the last measurement is a benchmark, and the disk's figure is the agent's",
  );
  assert.ok(listed.body.benchmarks[2].value > 0);
  assert.equal(listed.body.benchmarks[3].value, 1000);
  // The same machine, verified by hand, the operator's own, and simulated.
  world.clock.jump(48 * HOUR_MS);
  for (const [change, back] of [
    ["machines set is_verification_fixed = true", "machines set is_verification_fixed = false"],
    ["agent_credentials set is_trusted = true", "agent_credentials set is_trusted = false"],
    ["machines set engine_kind = 'simulated'", "machines set engine_kind = 'docker'"],
  ]) {
    await world.env.pool.query(`update ${change}`);
    assert.deepEqual(await loop.run(), { measured: 0, silent: 0, slow: 0 }, change);
    await world.env.pool.query(`update ${back}`);
  }
  assert.deepEqual(await loop.run(), { measured: 1, silent: 0, slow: 0 });
});

test("the measurement of an uplink is kept when that of the processor fails, and the run says so", async (t) => {
  const { world, owner, host, real, clock } = await aMeasuredHost(t);
  let opened = 0;
  const gateway = {
    measurable: () => real.measurable(),
    openTunnel: async (...asked: Parameters<typeof real.openTunnel>) => {
      opened += 1;
      if (opened > STREAMS) throw new Error("no tunnel for the puzzle");
      return real.openTunnel(...asked);
    },
  };
  const { database } = world.env;
  const loop = uplinkProbeLoop({ database, clock, gateway, measuredFrom: "here", bounds: BOUNDS });
  await assert.rejects(loop.run(), /no tunnel for the puzzle/);
  assert.deepEqual(await loop.run(), { measured: 0, silent: 0, slow: 0 }, "once a day is enough");
  const { body } = await world.call({ url: "/api/v0/benchmarks/", secret: owner.secret });
  assert.deepEqual(
    body.benchmarks.map((row: { readonly type: string }) => row.type),
    ["upload", "download", "disk"],
  );
  const path = `/api/v0/machines/${host.machineId}/verification/`;
  assert.equal((await world.call({ url: path, secret: owner.secret })).body.line.measured_count, 1);
});
