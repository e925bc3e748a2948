import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it } from "node:test";
import { TOKEN } from "../../test/fake-server.ts";
import { order } from "../../test/fixtures.ts";
import { HOST_KEY, useSessionWorld } from "../../test/session-world.ts";
import type { Engine } from "../engine/engine.ts";
import { LABEL_HOST } from "../instances/identity.ts";
import { silentLog, type Log } from "../base/log.ts";

describe("a session", () => {
  const world = useSessionWorld();
  const { start, isState, running } = world;

  it("says hello with its credential, is welcomed, and reports the empty host", async () => {
    start();
    await world.clock.until("a report", () => (world.server.peers[0]?.reports.length ?? 0) > 0);
    assert.deepEqual(world.server.authorizations, [`Bearer ${TOKEN}`]);
    assert.equal(world.server.peer.hello.machine.isSimulated, true);
    assert.equal(world.server.peer.hello.machine.hostname, "simulated-1");
    assert.deepEqual(world.server.peer.reports[0]?.instances, []);
    assert.equal(world.server.peer.reports[0]?.desiredVersion, 0);
  });

  it("reports as seldom as the server asks it to, without a new connection", async () => {
    world.server.askedHeartbeatMs = 8_000;
    start();
    const reports = () => world.server.peers[0]?.reports.length ?? 0;
    await world.clock.until("the first reports", () => reports() > 1);
    const [count, beganMs] = [reports(), world.clock.monotonicMs()];
    await world.clock.until("three more", () => reports() >= count + 3);
    assert.ok(world.clock.monotonicMs() - beganMs > 2 * 0.7 * 8_000);
    assert.equal(world.server.peers.length, 1);
  });

  it("shows what the last welcome gave it, and keeps what this one gives before it reports", async () => {
    const events: string[] = [];
    let kept = "earlier";
    const keep = (proof: string) => {
      events.push(`${proof} after ${world.server.peers.at(-1)?.reports.length} reports`);
      kept = proof;
      return true;
    };
    world.server.sessionProof = "first";
    start({ proofStore: { load: () => kept, keep } });
    await world.clock.until("a report", () => (world.server.peers[0]?.reports.length ?? 0) > 0);
    assert.deepEqual([world.server.peer.hello.sessionProof, events], ["earlier", ["first after 0 reports"]]);
    assert.equal(world.server.peer.reports[0]?.isProofLost, undefined);
    world.server.sessionProof = "second";
    world.server.peer.socket.terminate();
    await world.clock.until("another connection", () => (world.server.peers[1]?.reports.length ?? 0) > 0);
    assert.deepEqual([world.server.peer.hello.sessionProof, kept], ["first", "second"]);
  });

  it("says in its reports that it could not keep what the welcome gave, and goes on serving", async () => {
    world.server.sessionProof = "first";
    start({ proofStore: { load: () => "earlier", keep: () => false } });
    world.server.desire([order(1)]);
    await world.clock.until("running", isState(1, "running"));
    assert.ok(world.server.peer.reports.every((report) => report.isProofLost === true));
    world.server.peer.socket.terminate();
    await world.clock.until("another connection", () => world.server.peers.length > 1);
    assert.equal(world.server.peer.hello.sessionProof, "earlier", "what is on the disk is what counts");
  });

  it("a refusal is told once and asked about again and again, and what runs goes on until its lease ends", async () => {
    const warnings: string[] = [];
    const log: Log = { ...silentLog, warn: (fields) => warnings.push(JSON.stringify(fields)) };
    start({ log });
    world.server.desire([order(1)]);
    await world.clock.until("running", isState(1, "running"));
    world.server.welcomes = false;
    let refused = world.server.peers.length;
    const refuseAll = (count: number) => () => {
      for (const { socket } of world.server.peers.slice(refused)) {
        world.server.send(socket, { kind: "refuse", code: "credential_cloned", message: "A copy." });
        refused += 1;
      }
      return refused > count;
    };
    world.server.peer.socket.terminate();
    await world.clock.until("a refusal", refuseAll(1));
    assert.equal(await running(), 1);
    await world.clock.until("more attempts", refuseAll(4));
    assert.equal(warnings.filter((line) => line.includes("credential_cloned")).length, 1);
    assert.equal(await running(), 0, "the lease was over in between");
  });

  it("brings an order to running, showing the pull in bytes and no word that clients take for a failure", async () => {
    start();
    world.server.desire([order(1, { ports: [{ containerPort: 70_000, protocol: "tcp" }] })]);
    await world.clock.until("running", isState(1, "running"));
    const seen = world.server.peer.reports.flatMap((report) => report.instances);
    assert.ok(seen.some((one) => one.state === "pulling"));
    for (const { statusMsg } of seen) {
      assert.doesNotMatch(statusMsg, /error|failed|failure|exception|traceback|oci runtime|permission denied/i);
    }
    const [[name, port] = ["", 0]] = Object.entries(world.server.observed(1)?.ports ?? {});
    assert.equal(name, `${port}/tcp`);
  });

  it("the version of the desired set is reported once it has been applied", async () => {
    start();
    world.server.desire([order(1)]);
    await world.clock.until(
      "applied",
      () => world.server.peers[0]?.reports.some((report) => report.desiredVersion === 1) === true,
    );
    const first = world.server.peer.reports.find((report) => report.desiredVersion === 1);
    assert.equal(first?.instances.length, 1);
  });

  it("an order that grows older than what was applied is ignored", async () => {
    start();
    world.server.desire([order(1, { generation: 2 })]);
    await world.clock.until("running", isState(1, "running", 2));
    world.server.desire([order(1, { generation: 1, run: "absent" })]);
    await world.clock.advance(5_000);
    assert.equal(world.server.observed(1)?.state, "running");
    world.server.desire([order(1, { generation: 2, run: "absent" })]);
    await world.clock.until("absent", isState(1, "absent", 2));
    world.server.desire([order(1, { generation: 1 })]);
    await world.clock.advance(5_000);
    assert.equal(await running(), 0);
  });

  it("an instance that never existed gets its teardown receipt, until the server no longer asks", async () => {
    start();
    world.server.desire([order(1, { generation: 4, run: "absent" })]);
    await world.clock.until("absent", isState(1, "absent", 4));
    world.server.desire([]);
    await world.clock.until("silence", () => world.server.observed(1) === undefined);
  });

  it("an order withdrawn during its pull leaves nothing behind", async () => {
    start();
    world.server.desire([order(1)]);
    await world.clock.until("pulling", isState(1, "pulling"));
    world.server.desire([order(1, { run: "absent" })]);
    await world.clock.until("absent", isState(1, "absent"));
    const listed = await world.engine.list(LABEL_HOST, HOST_KEY);
    assert.deepEqual(listed.ok && listed.value, []);
  });

  it("the last counters of a run are told until they are acknowledged, beside those of the next run", async () => {
    start();
    world.server.desire([order(1)]);
    await world.clock.until("running", isState(1, "running"));
    await world.clock.advance(20_000);
    world.server.acknowledges = false;
    world.server.desire([order(1, { generation: 2 })]);
    await world.clock.advance(1_500);
    world.server.acknowledges = true;
    await world.clock.until("running again", isState(1, "running", 2));
    const both = world.server.peers.flatMap((peer) => peer.reports).findLast((report) => report.instances.length === 2);
    assert.deepEqual(
      both?.instances.map((one) => one.generation),
      [1, 2],
    );
    assert.ok((both?.instances[0]?.counters.runningMs ?? 0) >= 20_000);
    await world.clock.until("one entry again", () => world.server.peer.reports.at(-1)?.instances.length === 1);
  });

  it("a host without acknowledgement for the length of its lease stops what runs, and goes on afterwards", async () => {
    start();
    world.server.desire([order(1)]);
    await world.clock.until("running", isState(1, "running"));
    world.server.acknowledges = false;
    world.server.welcomes = false;
    const cutMs = world.clock.monotonicMs();
    await world.clock.advance(8_000);
    assert.equal(await running(), 1);
    await world.clock.advance(4_000);
    assert.equal(await running(), 0);
    assert.ok(world.clock.monotonicMs() - cutMs < 15_000);
    world.server.acknowledges = true;
    world.server.welcomes = true;
    await world.clock.until("news of it", () =>
      world.server.peers.some((peer) =>
        peer.reports.some((report) => report.instances[0]?.statusMsg === "lease expired"),
      ),
    );
    await world.clock.until("running again", isState(1, "running", 1));
    const counters = world.server.observed(1)?.counters;
    assert.ok(counters !== undefined && counters.runningMs >= 8_000 && counters.runningMs < 15_000);
  });

  it("instances that stopped at the end of the lease wait for present orders, however often a report is answered", async () => {
    start();
    world.server.desire([order(1), order(2)]);
    await world.clock.until("both running", () => isState(1, "running")() && isState(2, "running")());
    world.server.acknowledges = false;
    world.server.welcomes = false;
    await world.clock.advance(12_000);
    assert.equal(await running(), 0);
    world.server.acknowledges = true;
    world.server.welcomes = true;
    world.server.tells = false;
    const isBack = () => world.server.peer.reports.length >= 3;
    await world.clock.until("several reports of a new connection", isBack);
    assert.equal(await running(), 0, "the devices of either may be somebody else's now");
    world.server.tells = true;
    world.server.desire([order(1), order(2, { run: "stopped" })]);
    await world.clock.until("running again", isState(1, "running"));
    assert.equal(world.server.observed(2)?.state, "stopped");
    const since = world.server.peer.reports.flatMap((report) => report.instances);
    assert.ok(since.every((one) => one.instanceId !== 2 || one.state === "stopped"));
    await world.clock.advance(15_000);
    assert.equal(await running(), 1, "from then on answers renew the lease");
  });

  it("instances go on while the server answers, however late it sends a new connection its orders", async () => {
    start();
    world.server.desire([order(1)]);
    await world.clock.until("running", isState(1, "running"));
    world.server.tells = false;
    world.server.peer.socket.terminate();
    await world.clock.until("a new connection", () => world.server.peers.length > 1);
    await world.clock.advance(15_000);
    assert.equal(await running(), 1);
  });

  for (const hours of [1, -1]) {
    it(`the wall clock jumping by ${hours} h changes neither what runs nor what is counted`, async () => {
      start();
      world.server.desire([order(1)]);
      await world.clock.until("running", isState(1, "running"));
      await world.clock.advance(5_000);
      const before = world.server.observed(1)?.counters.runningMs ?? 0;
      world.clock.jump(hours * 3_600_000);
      await world.clock.advance(5_000);
      const after = world.server.observed(1)?.counters.runningMs ?? 0;
      assert.ok(after - before >= 3_000 && after - before <= 7_000, `${before} → ${after}`);
      assert.equal(await running(), 1);
      world.server.desire([order(1, { run: "stopped" })]);
      await world.clock.until("stopped", isState(1, "stopped"));
      const total = world.server.observed(1)?.counters.runningMs ?? 0;
      assert.ok(total >= after && total <= after + 7_000, `${after} → ${total}`);
    });
  }

  it("a failing start is tried again ever more seldom, and succeeds once it can", async () => {
    start();
    world.server.desire([order(1, { image: "example/app:broken" })]);
    await world.clock.until("a setback", isState(1, "failed"));
    assert.match(world.server.observed(1)?.statusMsg ?? "", /OCI runtime create failed/);
    await world.clock.advance(60_000);
    const states = world.server.peers
      .flatMap((peer) => peer.reports)
      .flatMap((report) => report.instances[0]?.state ?? []);
    const attempts = states.filter((state, index) => state === "failed" && states[index - 1] !== "failed").length;
    assert.ok(attempts >= 4 && attempts <= 8, `${attempts} attempts in a minute`);
    world.server.desire([order(1, { image: "example/app:broken", generation: 2, run: "stopped" })]);
    await world.clock.until("created", isState(1, "created", 2));
  });

  it("an image that nobody has is tried again, and withdrawing it leaves nothing", async () => {
    start();
    world.server.desire([order(1, { image: "example/does-not-exist" })]);
    await world.clock.until("a setback", isState(1, "failed"));
    world.server.desire([order(1, { image: "example/app", generation: 2 })]);
    await world.clock.until("running", isState(1, "running", 2), 5_000);
  });

  it("a connection without answers is given up and made again", async () => {
    start();
    await world.clock.until("connected", () => world.server.peers.length === 1);
    world.server.acknowledges = false;
    await world.clock.until("a new connection", () => world.server.peers.length >= 2, 20_000);
    world.server.acknowledges = true;
    await world.clock.until("reports", () => world.server.peer.reports.length > 1);
  });

  it("a task is answered, also when the connection is lost before its end, and a cancelled one says so", async () => {
    start();
    world.server.desire([order(1)]);
    await world.clock.until("running", isState(1, "running"));
    const results = () => world.server.peers.flatMap((peer) => peer.tasks.filter((one) => one.kind === "task_result"));
    const logs = { type: "logs", instanceId: 1, tailLines: 5, filter: "", isAgentLog: false } as const;
    world.server.send(world.server.peer.socket, { kind: "task", taskId: "logs", action: logs });
    await world.clock.until("the log", () => results().length === 1);
    assert.match(results()[0]?.text ?? "", /^simulated: /);
    const saved = { repository: "example/saved", tag: "1", registryAuth: null, isPaused: false };
    const action = { type: "snapshot", instanceId: 1, ...saved } as const;
    world.server.send(world.server.peer.socket, { kind: "task", taskId: "lost", action });
    await world.clock.until("its begin", () => world.server.peer.tasks.some((one) => one.taskId === "lost"));
    world.server.peer.socket.terminate();
    await world.clock.until("the result", () => results().some((one) => one.taskId === "lost" && one.isSuccess));
    assert.ok(world.server.peers.length >= 2);
    world.server.send(world.server.peer.socket, { kind: "task", taskId: "cancelled", action });
    await world.clock.until("its begin", () => world.server.peer.tasks.some((one) => one.taskId === "cancelled"));
    world.server.send(world.server.peer.socket, { kind: "cancel_task", taskId: "cancelled" });
    await world.clock.until("its end", () => results().some((one) => one.taskId === "cancelled" && !one.isSuccess));
  });

  it("a silent engine is reported as such, with the last known state and frozen counters", async () => {
    let isDown = false;
    const real = world.engine;
    const down = { ok: false, failure: { kind: "unreachable", message: "nobody listens on the socket" } } as const;
    const flaky: Engine = Object.create(real, {
      list: { value: (label: string, value: string) => (isDown ? Promise.resolve(down) : real.list(label, value)) },
      usage: { value: (id: string) => (isDown ? Promise.resolve(down) : real.usage(id)) },
    });
    for (const method of [
      "version",
      "findImage",
      "pull",
      "create",
      "start",
      "stop",
      "remove",
      "rename",
      "inspect",
      "subscribe",
      "close",
    ] as const) {
      Object.defineProperty(flaky, method, { value: real[method].bind(real) });
    }
    start({ engine: flaky });
    world.server.desire([order(1)]);
    await world.clock.until("running", isState(1, "running"));
    isDown = true;
    await world.clock.until("news", () => world.server.observed(1)?.statusMsg.includes("nobody listens") === true);
    const frozen = world.server.observed(1);
    assert.equal(frozen?.state, "running");
    const reports = world.server.peer.reports.length;
    await world.clock.advance(5_000);
    assert.ok(world.server.peer.reports.length > reports);
    assert.equal(world.server.observed(1)?.counters.runningMs, frozen.counters.runningMs);
    isDown = false;
    await world.clock.until("an answer", () => world.server.observed(1)?.statusMsg.startsWith("success") === true);
  });

  for (const [what, data] of [
    ["text that is not JSON", "{"],
    ["an unknown kind", '{"kind":"obey"}'],
    ["a desired set with a wrong type", '{"kind":"desired","version":2,"instances":[{"instance_id":"1"}]}'],
    ["an acknowledgement of what was never sent", '{"kind":"acknowledge","sequence":1000000}'],
    ["a binary message", Buffer.from([0, 1, 2])],
    ["a message beyond all size", "x".repeat(17 * 1024 * 1024)],
  ] as const) {
    it(`${what} closes the session with a reason, and the agent connects again`, async () => {
      start();
      await world.clock.until("a report", () => (world.server.peers[0]?.reports.length ?? 0) > 0);
      const closed = once(world.server.peer.socket, "close");
      world.server.peer.socket.send(data);
      await world.clock.until("a new connection", () => world.server.peers.length >= 2);
      const [code] = await closed;
      assert.ok(code === 1008 || code === 1009);
    });
  }

  it("a refused agent asks again, seldom", async () => {
    world.server.welcomes = false;
    start();
    await world.clock.until("connected", () => world.server.peers.length === 1);
    world.server.send(world.server.peer.socket, { kind: "refuse", code: "unknown_agent", message: "who are you" });
    await world.clock.advance(4_000);
    assert.equal(world.server.peers.length, 1);
    await world.clock.until("another attempt", () => world.server.peers.length >= 2, 12_000);
  });
});
