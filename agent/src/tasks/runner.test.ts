import assert from "node:assert/strict";
import { Readable, Writable } from "node:stream";
import { beforeEach, describe, it } from "node:test";
import type { Task, TaskAction, TaskProgress, TaskResult } from "../wire/messages.ts";
import { ManualClock } from "../../test/manual-clock.ts";
import { fail, succeed, type Engine, type Program } from "../engine/engine.ts";
import { silentLog } from "../base/log.ts";
import { createSimulatedEngine } from "../simulated/engine.ts";
import { AgentLines } from "./agent-lines.ts";
import type { FoundInstance } from "./files.ts";
import { noRegistries } from "../images/registries.ts";
import { NO_CLOUDS } from "./clouds/gate.ts";
import { TaskRunner } from "./runner.ts";
import type { Sandbox } from "./sandbox.ts";

const INSTANCE = 7;

describe("tasks", () => {
  let clock: ManualClock;
  let engine: Engine;
  let lines: AgentLines;
  let sent: (TaskProgress | TaskResult)[];
  let isConnected: boolean;
  let guarded: string[];
  let found: FoundInstance;
  let sandbox: Sandbox | undefined;
  let runner: TaskRunner;

  beforeEach(async () => {
    clock = new ManualClock();
    engine = createSimulatedEngine({ clock, random: () => 0.5 });
    lines = new AgentLines(clock);
    sent = [];
    guarded = [];
    isConnected = true;
    found = { kind: "present", container: await startContainer(), mounts: [] };
    sandbox = undefined;
    runner = startRunner();
  });

  const startRunner = () =>
    new TaskRunner({
      clock,
      engine,
      log: lines.listen(silentLog),
      sandbox,
      findInstance: (instanceId) => Promise.resolve(instanceId === INSTANCE ? found : { kind: "absent" }),
      awaitPlace: () => Promise.resolve(),
      dialTransfer: () => Promise.resolve({ ok: false, isFinal: true }),
      random: () => 0.5,
      volumeDirectory: () => undefined,
      agentLines: (instanceId) => lines.of(instanceId),
      cloudGate: NO_CLOUDS,
      addTraffic: () => undefined,
      guardImage: (imageId) => guarded.push(imageId),
      refuseRegistry: noRegistries,
      send: (message) => {
        if (isConnected) sent.push(message);
        return isConnected;
      },
    });

  const startContainer = async () => {
    const image = "example/app:latest";
    const signal = new AbortController().signal;
    const spec = { name: "one", image, labels: {}, env: [], entrypoint: null, command: null, hasInit: false };
    const place = { hostname: null, user: null, network: null, mounts: [], imageVolumes: [], bindAddress: "" };
    const work = (async () => {
      await engine.pull({ image, auth: null, signal, onProgress: () => undefined });
      const created = await engine.create({
        ...spec,
        ...place,
        ports: [],
        gpuUuids: [],
        cpuMillis: 0,
        memoryBytes: 0,
      });
      assert.ok(created.ok);
      await engine.start(created.value);
      return engine.inspect(created.value);
    })();
    await clock.advance(5_000);
    const inspected = await work;
    assert.ok(inspected.ok);
    return inspected.value;
  };
  const task = (action: TaskAction, taskId = "one"): Task => ({ kind: "task", taskId, action });
  const logs = (changes: Partial<Extract<TaskAction, { type: "logs" }>> = {}) =>
    task({ type: "logs", instanceId: INSTANCE, tailLines: 10, filter: "", isAgentLog: false, ...changes });
  const snapshot = (changes: Partial<Extract<TaskAction, { type: "snapshot" }>> = {}) =>
    task({
      type: "snapshot",
      instanceId: INSTANCE,
      repository: "example/saved",
      tag: "1",
      registryAuth: null,
      isPaused: true,
      ...changes,
    });
  const results = () => sent.filter((one) => one.kind === "task_result");
  const result = async (): Promise<TaskResult | undefined> => {
    await clock.until("a result", () => results().length > 0);
    return results()[0];
  };

  it("logs of a simulated instance say that they are simulated", async () => {
    runner.run(logs());
    const { text = "", isSuccess } = (await result()) ?? {};
    assert.ok(isSuccess);
    assert.match(text, /^simulated: example\/app:latest begins, run 1\n$/);
  });

  it("the agent's own lines are those about the instance, and of no other", async () => {
    const log = lines.listen(silentLog);
    log.info({ instance_id: INSTANCE, action: "create" }, "an action begins");
    log.warn({ instance_id: INSTANCE, action: "create" }, "an action failed");
    log.warn({ instance_id: INSTANCE + 1 }, "not for you");
    runner.run(logs({ isAgentLog: true, filter: "create" }));
    const text = (await result())?.text ?? "";
    assert.equal(text.split("\n").length, 3);
    assert.match(text, /info an action begins .*\n.* warn an action failed/);
  });

  it("a simulated instance has no files, and says so", async () => {
    const place = { kind: "instance", id: INSTANCE, path: "/" } as const;
    runner.run(task({ type: "execute", instanceId: INSTANCE, argv: ["ls"] }));
    runner.run(task({ type: "copy", source: place, destination: place }, "two"));
    await clock.until("both", () => results().length === 2);
    for (const { text, isSuccess } of results()) {
      assert.equal(isSuccess, false);
      assert.match(text, /simulated instance/);
    }
  });

  it("the size of a folder is in bytes, also where busybox can only count in KiB", async () => {
    const asked: string[] = [];
    const old = (argv: readonly string[]) => {
      const words = argv.slice(1).join(" ");
      asked.push(words);
      if (words.includes("-b"))
        return aProgram(1, "", "du: invalid option -- 'b'\nBusyBox v1.30.1 multi-call binary.\n");
      if (words.endsWith("/missing")) return aProgram(1, "", "du: /missing: No such file or directory\n");
      return aProgram(0, "5000000000\t/data/1\t2\n", "");
    };
    engine = { ...engine, kind: "docker", open: async (_container, argv) => succeed(old(argv)) };
    const refused = async () => fail("refused", "it runs");
    sandbox = { open: refused, openWithLoopback: refused };
    const measure = (path: string, ...more: string[]) => {
      sent = [];
      const argv = ["du", "-s", "-b", ...more, path];
      startRunner().run(task({ type: "execute", instanceId: INSTANCE, argv }, path));
      return result();
    };
    const seen = await measure("/data/1\t2", "-x");
    assert.deepEqual([seen?.isSuccess, seen?.text], [true, "5120000000000\t/data/1\t2\n"]);
    assert.deepEqual(asked, ["du -s -b -x /data/1\t2", "du -s -k -x /data/1\t2"]);
    assert.equal((await measure("/missing"))?.text, "du: /missing: No such file or directory\n");
  });

  it("a snapshot is guarded before it gets its name, and leaves nothing behind", async () => {
    runner.run(snapshot());
    const { text = "", isSuccess } = (await result()) ?? {};
    assert.deepEqual([isSuccess, text], [true, "simulated: nothing went to example/saved:1"]);
    assert.equal(guarded.length, 1);
    assert.ok(
      sent.some((one) => one.kind === "task_progress" && one.text === "making an image of the instance's files"),
    );
    assert.deepEqual(await engine.findImage("example/saved:1"), { ok: true, value: undefined });
  });

  it("a snapshot under the name of an image of the host leaves that image its name", async () => {
    const before = await engine.findImage("example/app:latest");
    runner.run(snapshot({ repository: "example/app", tag: "latest" }));
    assert.ok((await result())?.isSuccess);
    assert.deepEqual(await engine.findImage("example/app:latest"), before);
  });

  it("remains of a snapshot whose process was killed go when the task comes again, also without the instance", async () => {
    const own = { repository: `berth-snapshot/${INSTANCE}`, tag: `task-${Buffer.from("one").toString("hex")}` };
    const leaveHalfDone = async () => {
      assert.ok(found.kind === "present");
      const committed = await engine.commit(found.container.id, { ...own, isPaused: false });
      assert.ok(committed.ok);
      await engine.tagImage(committed.value, "example/saved:1");
    };
    const half = leaveHalfDone();
    await clock.advance(5_000);
    await half;
    found = { kind: "absent" };
    runner.run(snapshot());
    assert.equal((await result())?.isSuccess, false);
    for (const image of ["example/saved:1", `${own.repository}:${own.tag}`]) {
      assert.deepEqual(await engine.findImage(image), { ok: true, value: undefined });
    }
  });

  it("a snapshot that the registry does not take is told, and can be cancelled", async () => {
    runner.run(snapshot({ repository: "example/private" }));
    assert.match((await result())?.text ?? "", /access denied/);
    runner.run({ ...snapshot(), taskId: "two" });
    await clock.until("progress", () => sent.some((one) => one.kind === "task_progress" && one.taskId === "two"));
    runner.cancel("two");
    await clock.until("the end", () => results().length === 2);
    assert.deepEqual([results()[1]?.isSuccess, results()[1]?.text], [false, "it was cancelled"]);
    assert.deepEqual(await engine.findImage("example/saved:1"), { ok: true, value: undefined });
  });

  it("the same task again is not done again: it is answered again", async () => {
    runner.run(snapshot());
    runner.run(snapshot());
    await result();
    runner.run(snapshot());
    await clock.advance(5_000);
    assert.equal(guarded.length, 1);
    assert.equal(results().length, 2);
    assert.deepEqual(results()[0], results()[1]);
  });

  it("a result without a connection waits for the next one and is sent once", async () => {
    isConnected = false;
    runner.run(logs());
    await clock.advance(1_000);
    runner.resend();
    assert.equal(sent.length, 0);
    isConnected = true;
    runner.resend();
    runner.resend();
    assert.equal(results().length, 1);
  });

  it("an instance that is not here and one that is just changing get an answer of their own each", async () => {
    runner.run({ ...logs({ instanceId: 99 }), taskId: "absent" });
    found = { kind: "busy" };
    runner.run({ ...snapshot(), taskId: "busy" });
    await clock.until("both", () => results().length === 2);
    assert.match(results().find((one) => one.taskId === "absent")?.text ?? "", /no container on this host/);
    assert.match(results().find((one) => one.taskId === "busy")?.text ?? "", /just being started, stopped or removed/);
  });

  it("more tasks than the host takes are refused, those that run are not", async () => {
    for (let i = 0; i < 70; i += 1) runner.run({ ...snapshot(), taskId: `task-${i}` });
    assert.equal(results().length, 6);
    for (const { text } of results()) assert.match(text, /busy/);
    await clock.until("all", () => results().length === 70);
    assert.equal(results().filter((one) => one.isSuccess).length, 64);
  });

  it("cancelling what is unknown does nothing", () => {
    runner.cancel("never");
    assert.deepEqual(sent, []);
  });
});

/** A program that is over at once. */
function aProgram(exitCode: number, stdout: string, stderr: string): Program {
  const stream = (text: string) => Readable.from(text === "" ? [] : [Buffer.from(text)]);
  const stdin = new Writable({ write: (_chunk, _encoding, done) => done() });
  return { stdin, stdout: stream(stdout), stderr: stream(stderr), ended: Promise.resolve(succeed(exitCode)), kill: () => undefined }; // prettier-ignore
}
