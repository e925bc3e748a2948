import assert from "node:assert/strict";
import { once } from "node:events";
import { afterEach, beforeEach, describe, it } from "node:test";
import { FakeServer, TOKEN } from "../test/fake-server.ts";
import { order } from "../test/fixtures.ts";
import { ManualClock } from "../test/manual-clock.ts";
import { fail, type Engine } from "./engine.ts";
import { LABEL_HOST } from "./identity.ts";
import { silentLog, type Log } from "./log.ts";
import { simulatedDisks } from "./disks/index.ts";
import { noGpuAccess } from "./gpu/index.ts";
import { noNetwork } from "./network/network.ts";
import type { Notes, NotesStore } from "./notes.ts";
import type { ProofStore } from "./proof.ts";
import { startHost, type RunningHost } from "./run-host.ts";
import { createSimulatedEngine } from "./simulated/engine.ts";
import { inventMachine } from "./simulated/machine.ts";

const HOST_KEY = "session-test";
const port_range = { first: 30_000, last: 30_100 };

describe("a session", () => {
  let server: FakeServer;
  let clock: ManualClock;
  let engine: Engine;
  const hosts: RunningHost[] = [];

  /** Notes that outlive a host within one test. */
  const notebook = (): NotesStore => {
    let kept: Notes | undefined;
    return { load: () => kept, save: (notes) => (kept = structuredClone(notes)) };
  };
  const start = (
    changes: { notes_store?: NotesStore; engine?: Engine; proof_store?: ProofStore; log?: Log } = {},
  ): RunningHost => {
    const public_ipaddr = "127.0.0.1";
    const inventory = inventMachine({ host_key: HOST_KEY, number: 1, public_ipaddr, port_range });
    const host = startHost({
      clock,
      random: () => 0.5,
      log: silentLog,
      server_url: server.url,
      token: TOKEN,
      host_key: HOST_KEY,
      boot_id: "boot-1",
      engine,
      disks: simulatedDisks(),
      network: noNetwork,
      ssh: undefined,
      common_mounts: [],
      sandbox: undefined,
      inventory,
      gpu_access: noGpuAccess,
      isDiskLow: () => Promise.resolve(false),
      public_ipaddr,
      bind_address: public_ipaddr,
      port_range,
      isPortFree: () => Promise.resolve(true),
      notes_store: notebook(),
      delay_ms: 0,
      ...changes,
    });
    hosts.push(host);
    return host;
  };
  const isState =
    (instance_id: number, state: string, generation = 1) =>
    () => {
      const one = server.observed(instance_id);
      return one?.state === state && one.generation === generation;
    };
  const running = async () => {
    const listed = await engine.list(LABEL_HOST, HOST_KEY);
    assert.ok(listed.ok);
    return listed.value.filter((one) => one.phase === "running").length;
  };

  beforeEach(async () => {
    server = await FakeServer.listen();
    server.heartbeat_ms = 1_000;
    server.lease_ms = 10_000;
    clock = new ManualClock();
    engine = createSimulatedEngine({ clock, random: () => 0.5 });
  });
  afterEach(async () => {
    for (const host of hosts.splice(0)) await host.close();
    await server.close();
    assert.deepEqual(server.problems, []);
  });

  it("says hello with its credential, is welcomed, and reports the empty host", async () => {
    start();
    await clock.until("a report", () => (server.peers[0]?.reports.length ?? 0) > 0);
    assert.deepEqual(server.authorizations, [`Bearer ${TOKEN}`]);
    assert.equal(server.peer.hello.machine.is_simulated, true);
    assert.equal(server.peer.hello.machine.hostname, "simulated-1");
    assert.deepEqual(server.peer.reports[0]?.instances, []);
    assert.equal(server.peer.reports[0]?.desired_version, 0);
  });

  it("reports as seldom as the server asks it to, without a new connection", async () => {
    server.asked_heartbeat_ms = 8_000;
    start();
    const reports = () => server.peers[0]?.reports.length ?? 0;
    await clock.until("the first reports", () => reports() > 1);
    const [count, began_ms] = [reports(), clock.monotonicMs()];
    await clock.until("three more", () => reports() >= count + 3);
    assert.ok(clock.monotonicMs() - began_ms > 2 * 0.7 * 8_000);
    assert.equal(server.peers.length, 1);
  });

  it("shows what the last welcome gave it, and keeps what this one gives before it reports", async () => {
    const events: string[] = [];
    let kept = "earlier";
    const keep = (proof: string) => {
      events.push(`${proof} after ${server.peers.at(-1)?.reports.length} reports`);
      kept = proof;
      return true;
    };
    server.session_proof = "first";
    start({ proof_store: { load: () => kept, keep } });
    await clock.until("a report", () => (server.peers[0]?.reports.length ?? 0) > 0);
    assert.deepEqual([server.peer.hello.session_proof, events], ["earlier", ["first after 0 reports"]]);
    assert.equal(server.peer.reports[0]?.is_proof_lost, undefined);
    server.session_proof = "second";
    server.peer.socket.terminate();
    await clock.until("another connection", () => (server.peers[1]?.reports.length ?? 0) > 0);
    assert.deepEqual([server.peer.hello.session_proof, kept], ["first", "second"]);
  });

  it("says in its reports that it could not keep what the welcome gave, and goes on serving", async () => {
    server.session_proof = "first";
    start({ proof_store: { load: () => "earlier", keep: () => false } });
    server.desire([order(1)]);
    await clock.until("running", isState(1, "running"));
    assert.ok(server.peer.reports.every((report) => report.is_proof_lost === true));
    server.peer.socket.terminate();
    await clock.until("another connection", () => server.peers.length > 1);
    assert.equal(server.peer.hello.session_proof, "earlier", "what is on the disk is what counts");
  });

  it("a refusal is told once and asked about again and again, and what runs goes on until its lease ends", async () => {
    const warnings: string[] = [];
    const log: Log = { ...silentLog, warn: (fields) => warnings.push(JSON.stringify(fields)) };
    start({ log });
    server.desire([order(1)]);
    await clock.until("running", isState(1, "running"));
    server.welcomes = false;
    let refused = server.peers.length;
    const refuseAll = (count: number) => () => {
      for (const { socket } of server.peers.slice(refused)) {
        server.send(socket, { kind: "refuse", code: "credential_cloned", message: "A copy." });
        refused += 1;
      }
      return refused > count;
    };
    server.peer.socket.terminate();
    await clock.until("a refusal", refuseAll(1));
    assert.equal(await running(), 1);
    await clock.until("more attempts", refuseAll(4));
    assert.equal(warnings.filter((line) => line.includes("credential_cloned")).length, 1);
    assert.equal(await running(), 0, "the lease was over in between");
  });

  it("brings an order to running, showing the pull in bytes and no word that clients take for a failure", async () => {
    start();
    server.desire([order(1, { ports: [{ container_port: 70_000, protocol: "tcp" }] })]);
    await clock.until("running", isState(1, "running"));
    const seen = server.peer.reports.flatMap((report) => report.instances);
    assert.ok(seen.some((one) => one.state === "pulling"));
    for (const { status_msg } of seen) {
      assert.doesNotMatch(status_msg, /error|failed|failure|exception|traceback|oci runtime|permission denied/i);
    }
    const [[name, port] = ["", 0]] = Object.entries(server.observed(1)?.ports ?? {});
    assert.equal(name, `${port}/tcp`);
  });

  it("the version of the desired set is reported once it has been applied", async () => {
    start();
    server.desire([order(1)]);
    await clock.until(
      "applied",
      () => server.peers[0]?.reports.some((report) => report.desired_version === 1) === true,
    );
    const first = server.peer.reports.find((report) => report.desired_version === 1);
    assert.equal(first?.instances.length, 1);
  });

  it("an order that grows older than what was applied is ignored", async () => {
    start();
    server.desire([order(1, { generation: 2 })]);
    await clock.until("running", isState(1, "running", 2));
    server.desire([order(1, { generation: 1, run: "absent" })]);
    await clock.advance(5_000);
    assert.equal(server.observed(1)?.state, "running");
    server.desire([order(1, { generation: 2, run: "absent" })]);
    await clock.until("absent", isState(1, "absent", 2));
    server.desire([order(1, { generation: 1 })]);
    await clock.advance(5_000);
    assert.equal(await running(), 0);
  });

  it("an instance that never existed gets its teardown receipt, until the server no longer asks", async () => {
    start();
    server.desire([order(1, { generation: 4, run: "absent" })]);
    await clock.until("absent", isState(1, "absent", 4));
    server.desire([]);
    await clock.until("silence", () => server.observed(1) === undefined);
  });

  it("an order withdrawn during its pull leaves nothing behind", async () => {
    start();
    server.desire([order(1)]);
    await clock.until("pulling", isState(1, "pulling"));
    server.desire([order(1, { run: "absent" })]);
    await clock.until("absent", isState(1, "absent"));
    const listed = await engine.list(LABEL_HOST, HOST_KEY);
    assert.deepEqual(listed.ok && listed.value, []);
  });

  it("the last counters of a run are told until they are acknowledged, beside those of the next run", async () => {
    start();
    server.desire([order(1)]);
    await clock.until("running", isState(1, "running"));
    await clock.advance(20_000);
    server.acknowledges = false;
    server.desire([order(1, { generation: 2 })]);
    await clock.advance(1_500);
    server.acknowledges = true;
    await clock.until("running anew", isState(1, "running", 2));
    const both = server.peers.flatMap((peer) => peer.reports).findLast((report) => report.instances.length === 2);
    assert.deepEqual(
      both?.instances.map((one) => one.generation),
      [1, 2],
    );
    assert.ok((both?.instances[0]?.counters.running_ms ?? 0) >= 20_000);
    await clock.until("one entry again", () => server.peer.reports.at(-1)?.instances.length === 1);
  });

  it("a host without acknowledgement for the length of its lease stops what runs, and goes on afterwards", async () => {
    start();
    server.desire([order(1)]);
    await clock.until("running", isState(1, "running"));
    server.acknowledges = false;
    server.welcomes = false;
    const cut_ms = clock.monotonicMs();
    await clock.advance(8_000);
    assert.equal(await running(), 1);
    await clock.advance(4_000);
    assert.equal(await running(), 0);
    assert.ok(clock.monotonicMs() - cut_ms < 15_000);
    server.acknowledges = true;
    server.welcomes = true;
    await clock.until("news of it", () =>
      server.peers.some((peer) => peer.reports.some((report) => report.instances[0]?.status_msg === "lease expired")),
    );
    await clock.until("running again", isState(1, "running", 1));
    const counters = server.observed(1)?.counters;
    assert.ok(counters !== undefined && counters.running_ms >= 8_000 && counters.running_ms < 15_000);
  });

  for (const hours of [1, -1]) {
    it(`the wall clock jumping by ${hours} h changes neither what runs nor what is counted`, async () => {
      start();
      server.desire([order(1)]);
      await clock.until("running", isState(1, "running"));
      await clock.advance(5_000);
      const before = server.observed(1)?.counters.running_ms ?? 0;
      clock.jump(hours * 3_600_000);
      await clock.advance(5_000);
      const after = server.observed(1)?.counters.running_ms ?? 0;
      assert.ok(after - before >= 3_000 && after - before <= 7_000, `${before} → ${after}`);
      assert.equal(await running(), 1);
      server.desire([order(1, { run: "stopped" })]);
      await clock.until("stopped", isState(1, "stopped"));
      const total = server.observed(1)?.counters.running_ms ?? 0;
      assert.ok(total >= after && total <= after + 7_000, `${after} → ${total}`);
    });
  }

  it("restarting the agent does not prolong a lease", async () => {
    const notes_store = notebook();
    const first = start({ notes_store });
    server.desire([order(1)]);
    await clock.until("running", isState(1, "running"));
    await clock.advance(3_000);
    server.acknowledges = false;
    server.welcomes = false;
    await clock.advance(6_000);
    await first.close();
    start({ notes_store, engine });
    await clock.advance(6_000);
    assert.equal(await running(), 0);
  });

  it("a new agent adopts what runs, and its counters go on", async () => {
    const first = start();
    server.desire([order(1)]);
    await clock.until("running", isState(1, "running"));
    await clock.advance(5_000);
    const before = server.observed(1)?.counters.running_ms ?? 0;
    await first.close();
    await clock.advance(1_000);
    start();
    await clock.until("a second hello", () => server.peers.length >= 2);
    await clock.until("running", isState(1, "running"));
    assert.ok((server.observed(1)?.counters.running_ms ?? 0) >= before + 1_000);
    assert.equal(await running(), 1);
  });

  it("what begins while no server is there is noted at once, and how long it runs every few seconds", async () => {
    const notes_store = notebook();
    start({ notes_store });
    server.desire([order(1)]);
    await clock.until("the order", () => server.observed(1) !== undefined);
    server.welcomes = false;
    server.peer.socket.terminate();
    await clock.until("running", () => notes_store.load()?.running.length === 1);
    await clock.advance(9_000);
    const counted = notes_store.load()?.meters["1:1"]?.run.running_ms ?? 0;
    assert.ok(counted >= 4_000 && counted <= 9_000, String(counted));
    assert.ok(!isState(1, "running")(), "nobody was told");
  });

  it("notes of what nobody can be told are written every few seconds, and not at each look at the clock", async () => {
    const store = notebook();
    let count = 0;
    const save: typeof store.save = (notes) => {
      count += 1;
      store.save(notes);
    };
    server.welcomes = false;
    start({ notes_store: { ...store, save } });
    await clock.until("a hello", () => server.peers.length > 0);
    await clock.until("first notes", () => count > 0);
    const before = count;
    await clock.advance(15_000);
    assert.ok(count - before <= 4, String(count - before));
  });

  it("an agent that has not seen its engine yet leaves the notes of the one before as they are", async () => {
    const notes_store = notebook();
    const first = start({ notes_store });
    server.desire([order(1)]);
    await clock.until("running", isState(1, "running"));
    await first.close();
    const kept = notes_store.load();
    engine.list = () => Promise.resolve(fail("unreachable", "not up yet"));
    const next = start({ notes_store });
    await clock.until("a second hello", () => server.peers.length >= 2);
    await clock.advance(6_000);
    await next.close();
    assert.deepEqual(notes_store.load(), kept);
  });

  it("what cannot be started is tried again ever more seldom, and succeeds once it can", async () => {
    start();
    server.desire([order(1, { image: "example/app:broken" })]);
    await clock.until("a setback", isState(1, "failed"));
    assert.match(server.observed(1)?.status_msg ?? "", /OCI runtime create failed/);
    await clock.advance(60_000);
    const states = server.peers.flatMap((peer) => peer.reports).flatMap((report) => report.instances[0]?.state ?? []);
    const attempts = states.filter((state, index) => state === "failed" && states[index - 1] !== "failed").length;
    assert.ok(attempts >= 4 && attempts <= 8, `${attempts} attempts in a minute`);
    server.desire([order(1, { image: "example/app:broken", generation: 2, run: "stopped" })]);
    await clock.until("created", isState(1, "created", 2));
  });

  it("an image that nobody has is tried again, and withdrawing it leaves nothing", async () => {
    start();
    server.desire([order(1, { image: "example/does-not-exist" })]);
    await clock.until("a setback", isState(1, "failed"));
    server.desire([order(1, { image: "example/app", generation: 2 })]);
    await clock.until("running", isState(1, "running", 2), 5_000);
  });

  it("a connection without answers is given up and made anew", async () => {
    start();
    await clock.until("connected", () => server.peers.length === 1);
    server.acknowledges = false;
    await clock.until("a new connection", () => server.peers.length >= 2, 20_000);
    server.acknowledges = true;
    await clock.until("reports", () => server.peer.reports.length > 1);
  });

  it("a task is answered, also when the connection is lost before its end, and a cancelled one says so", async () => {
    start();
    server.desire([order(1)]);
    await clock.until("running", isState(1, "running"));
    const results = () => server.peers.flatMap((peer) => peer.tasks.filter((one) => one.kind === "task_result"));
    const logs = { type: "logs", instance_id: 1, tail_lines: 5, filter: "", is_agent_log: false } as const;
    server.send(server.peer.socket, { kind: "task", task_id: "logs", action: logs });
    await clock.until("the log", () => results().length === 1);
    assert.match(results()[0]?.text ?? "", /^simulated: /);
    const saved = { repository: "example/saved", tag: "1", registry_auth: null, is_paused: false };
    const action = { type: "snapshot", instance_id: 1, ...saved } as const;
    server.send(server.peer.socket, { kind: "task", task_id: "lost", action });
    await clock.until("its begin", () => server.peer.tasks.some((one) => one.task_id === "lost"));
    server.peer.socket.terminate();
    await clock.until("the result", () => results().some((one) => one.task_id === "lost" && one.is_success));
    assert.ok(server.peers.length >= 2);
    server.send(server.peer.socket, { kind: "task", task_id: "cancelled", action });
    await clock.until("its begin", () => server.peer.tasks.some((one) => one.task_id === "cancelled"));
    server.send(server.peer.socket, { kind: "cancel_task", task_id: "cancelled" });
    await clock.until("its end", () => results().some((one) => one.task_id === "cancelled" && !one.is_success));
  });

  it("a silent engine is reported as such, with the last known state and frozen counters", async () => {
    let isDown = false;
    const real = engine;
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
    server.desire([order(1)]);
    await clock.until("running", isState(1, "running"));
    isDown = true;
    await clock.until("news", () => server.observed(1)?.status_msg.includes("nobody listens") === true);
    const frozen = server.observed(1);
    assert.equal(frozen?.state, "running");
    const reports = server.peer.reports.length;
    await clock.advance(5_000);
    assert.ok(server.peer.reports.length > reports);
    assert.equal(server.observed(1)?.counters.running_ms, frozen.counters.running_ms);
    isDown = false;
    await clock.until("an answer", () => server.observed(1)?.status_msg.startsWith("success") === true);
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
      await clock.until("a report", () => (server.peers[0]?.reports.length ?? 0) > 0);
      const closed = once(server.peer.socket, "close");
      server.peer.socket.send(data);
      await clock.until("a new connection", () => server.peers.length >= 2);
      const [code] = await closed;
      assert.ok(code === 1008 || code === 1009);
    });
  }

  it("a refused agent asks again, seldom", async () => {
    server.welcomes = false;
    start();
    await clock.until("connected", () => server.peers.length === 1);
    server.send(server.peer.socket, { kind: "refuse", code: "unknown_agent", message: "who are you" });
    await clock.advance(4_000);
    assert.equal(server.peers.length, 1);
    await clock.until("another attempt", () => server.peers.length >= 2, 12_000);
  });
});
