// Eviction notices as a renter's container sees them, tried in real containers made by a real agent.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import type { DesiredInstance, LaunchCommand, Notice } from "../wire/messages.ts";
import { bareImage, busyboxImage, docker } from "../../../test/support/hosts/docker.ts";
import { until } from "../../../test/support/until.ts";
import { order } from "../../test/fixtures.ts";
import { RealAgent } from "../../test/real-agent.ts";

const run = promisify(execFile);
/** Instances of the killed agent, with numbers that nobody else's containers on this machine have. */
const [SAVING, WAITING] = [53_001, 53_002];
const FILE = "/run/berth/interruption.json";
const ADDRESS = "http://127.0.0.1:7411/interruption";
const BUSYBOX = "/.berth/busybox";
const LONG: Notice = { reason: "outbid", remainingMs: 600_000, message: 'a "higher" bid' };
/** Sooner than that, and not before a test has looked. */
const NEARER: Notice = { ...LONG, remainingMs: 300_000, reason: "on_demand" };
const SHORT: Notice = { ...LONG, remainingMs: 2_000 };
const shell = (onstart: string | null): LaunchCommand => ({ mode: "shell", onstart, jupyter: null });
const entrypoint = (line: string): LaunchCommand => ({ mode: "entrypoint", entrypointShell: line, args: null });
/** Written by a script as soon as it is prepared for a signal. */
const READY = "/ready";
/** Writes a line for each SIGTERM and goes on. */
const HEARING = `trap 'echo heard >> /heard' TERM; echo yes > ${READY}; while :; do sleep 0.1; done`;

describe("a container under an eviction notice", { concurrency: true }, () => {
  let agent: RealAgent;
  let image = "";
  /** Nobody else's containers on this machine have these numbers, which make their names. */
  let lastId = 52_000;
  const orders = new Map<number, DesiredInstance>();

  const desire = (wanted: DesiredInstance) => {
    orders.set(wanted.instanceId, wanted);
    agent.server.desire([...orders.values()]);
  };
  /** Changes the order of one instance, keeping the rest of it. */
  const change = (id: number, changes: Partial<DesiredInstance>) => {
    const present = orders.get(id);
    assert.ok(present);
    desire({ ...present, ...changes });
  };
  const relieve = (id: number) => {
    const { notice: _, ...rest } = orders.get(id) ?? order(id);
    desire(rest);
  };
  const rent = async (changes: Partial<DesiredInstance> = {}): Promise<number> => {
    lastId += 1;
    const id = lastId;
    desire(order(id, { image, command: shell(null), ...changes }));
    await agent.server.untilState(id, "running");
    return id;
  };
  const nameOf = (id: number, generation = 1) => `berth-${id}-g${generation}`;
  const inside = (id: number, ...words: readonly string[]) => docker("exec", nameOf(id), BUSYBOX, ...words);
  /** Also of a container that does not run. */
  const read = async (id: number, path: string) =>
    docker("cp", `${nameOf(id)}:${path}`, "-").then(
      (archive) => archive.slice(512).replace(/\0[^]*$/, ""),
      () => "",
    );
  const appears = (id: number, path: string) => until(`${path} in ${id}`, async () => (await read(id, path)) !== "");
  const ask = (id: number, url = ADDRESS) => inside(id, "wget", "-q", "-O", "-", url);
  const answers = (id: number) => until(`an answer in ${id}`, () => ask(id).catch(() => undefined));
  const stopped = (id: number) => agent.server.untilState(id, "stopped", 1);
  const isRunning = async (id: number) => (await docker("inspect", "-f", "{{.State.Running}}", nameOf(id))) === "true";

  before(async () => {
    image = await busyboxImage();
    agent = await RealAgent.start("notice-e2e", ["--port-range", "27900-27960"]);
  });
  after(async () => {
    await agent.close();
    assert.deepEqual(agent.server.problems, []);
  });

  it("reads so in a file and at an address, hears SIGTERM, and runs on to the end of the notice", async () => {
    const id = await rent({ command: shell(HEARING) });
    await appears(id, READY);
    change(id, { notice: LONG });
    await appears(id, "/heard");
    const text: Readonly<Record<string, unknown>> = JSON.parse(await inside(id, "cat", FILE));
    assert.partialDeepStrictEqual(text, { reason: "outbid", message: 'a "higher" bid' });
    // Two clocks lead to the end, so that a millisecond may be lost, and with it the last of the whole seconds.
    assert.ok(text["seconds"] === 600 || text["seconds"] === 599, String(text["seconds"]));
    assert.deepEqual(JSON.parse(await answers(id)), text);
    const headers = await inside(id, "sh", "-c", `wget -S -O /dev/null ${ADDRESS}.json 2>&1`);
    assert.match(headers, /200 OK[^]*application\/json/);
    assert.equal(await inside(id, "stat", "-c", "%a %U", FILE), "644 root");
    change(id, { notice: NEARER });
    await until("the newer text", async () => (await inside(id, "cat", FILE)).includes("on_demand"));
    assert.equal(await isRunning(id), true);
    change(id, { notice: SHORT });
    await stopped(id);
    assert.equal((await read(id, "/heard")).trim().split("\n")[0], "heard");
    // The same order again starts nothing; the next generation knows nothing of it.
    change(id, { notice: LONG });
    assert.equal(agent.server.observed(id)?.state, "stopped");
    relieve(id);
    change(id, { generation: 2, command: shell(HEARING) });
    await agent.server.untilState(id, "running", 2);
    assert.equal((await docker("exec", nameOf(id, 2), "ls", "/run/berth")).includes("interruption.json"), false);
  });

  it("in entrypoint mode its main process hears SIGTERM, and its end is a stop", async () => {
    const id = await rent({
      command: entrypoint(`trap 'echo saved > /saved; exit 0' TERM; echo yes > ${READY}; while :; do sleep 0.1; done`),
    });
    await appears(id, READY);
    change(id, { notice: LONG });
    assert.equal((await stopped(id)).exitCode, 0);
    assert.equal((await read(id, "/saved")).trim(), "saved");
  });

  it("runs the checkpoint command as its own user in its own folder, then stops early, and keeps what was printed", async () => {
    const checkpointCommand = "id -u; pwd; echo $COLOUR; seq 400000; echo end >&2; exit 7";
    const id = await rent({
      command: shell(HEARING),
      user: "1234:1234",
      env: [["COLOUR", "green"]],
    });
    change(id, { notice: LONG, checkpointCommand });
    await stopped(id);
    const log = await read(id, "/run/berth/checkpoint.log");
    assert.deepEqual(log.split("\n").slice(0, 4), ["1234", "/", "green", "1"]);
    assert.equal(log.length, 2 ** 20, "no more than that is kept");
  });

  it("programs that onstart began hear SIGTERM after the checkpoint command and have time to end", async () => {
    const saving = `trap 'sleep 0.5; echo saved > /saved; exit 0' TERM; echo yes > ${READY}; while :; do sleep 0.1; done`;
    const id = await rent({ command: shell(`(${saving}) & trap '' TERM; wait`) });
    await appears(id, READY);
    change(id, { notice: LONG, checkpointCommand: "test ! -e /saved && echo done > /checkpoint" });
    await stopped(id);
    assert.deepEqual([(await read(id, "/checkpoint")).trim(), (await read(id, "/saved")).trim()], ["done", "saved"]);
  });

  it("may stay after all: file and address go, and it runs on", async () => {
    const id = await rent();
    change(id, { notice: LONG });
    await answers(id);
    relieve(id);
    await until("the file is gone", async () => (await read(id, FILE)) === "");
    await until("the address is gone", () =>
      ask(id).then(
        () => false,
        (error) => /refused/.test(String(error)),
      ),
    );
    assert.equal(await isRunning(id), true);
    // A second notice is as good as the first.
    change(id, { notice: LONG, checkpointCommand: "echo again > /again" });
    await stopped(id);
    assert.equal((await read(id, "/again")).trim(), "again");
  });

  it("needs nothing of the image", async () => {
    const bare = await bareImage();
    const id = await rent({ image: bare, command: { mode: "entrypoint", entrypointShell: null, args: null } });
    change(id, { notice: LONG });
    await answers(id);
    change(id, { notice: SHORT });
    await stopped(id);
  });

  it("obstacles inside a container harm its renter only, and it leaves in time", async () => {
    const traps = [
      "mkdir -p /etc/mine && rm -rf /run && ln -s /etc/mine /run",
      "rm -rf /run && ln -s /run /run",
      "mkdir -p /run && ln -s /root /run/berth && echo kept > /root/interruption.json",
      `mkdir -p ${FILE}/full /run/berth/.address && mkfifo /run/berth/.new || ${BUSYBOX} mkfifo /run/berth/.new`,
      "dd if=/dev/zero of=/fill bs=1000000 count=200; for i in $(seq 2000); do echo x > /fill$i; done",
    ];
    await Promise.all(
      traps.map(async (trap) => {
        const id = await rent({ diskBytes: 20_000_000 });
        await docker("exec", nameOf(id), "sh", "-c", trap).catch(() => undefined);
        change(id, { notice: LONG });
        assert.equal((JSON.parse(await answers(id)) as Notice).reason, "outbid", trap);
        change(id, { notice: SHORT });
        await stopped(id);
      }),
    );
  });

  it("without room for another process it hears SIGTERM, and leaves at the end", async () => {
    const bomb = "(while :; do sleep 1000 & done); while :; do wait $keep; done";
    const id = await rent({
      command: entrypoint(`trap 'echo heard' TERM; sleep 1000 & keep=$!; ${bomb}`),
      memoryBytes: 256 * 2 ** 20,
    });
    const logged = (word: RegExp) =>
      until(String(word), async () => {
        const { stdout, stderr } = await run("docker", ["logs", nameOf(id)]);
        return word.test(stdout + stderr);
      });
    await logged(/can't fork/);
    change(id, { notice: LONG, checkpointCommand: "echo never" });
    await logged(/heard/);
    assert.equal(await isRunning(id), true);
    change(id, { notice: SHORT });
    await stopped(id);
  });

  it("a fault is the image's when no host could start it", async () => {
    const faults = [
      { command: { mode: "entrypoint" as const, entrypointShell: null, args: ["/no/such/program"] } },
      { user: "nobody-knows" },
      { memoryBytes: 1_000_000 },
      { image: "127.0.0.1:1/UPPER/case" },
    ];
    const ids = faults.map((changes) => {
      lastId += 1;
      desire(order(lastId, { image, command: shell(null), ...changes }));
      return lastId;
    });
    for (const id of ids) {
      const { fault, statusMsg } = await agent.server.untilState(id, "failed");
      assert.equal(fault, "image", statusMsg);
    }
  });
});

describe("an agent that is killed during an eviction notice", () => {
  let agent: RealAgent;
  let image = "";
  before(async () => {
    image = await busyboxImage();
    agent = await RealAgent.start("notice-killed-e2e", ["--port-range", "27961-27980"]);
  });
  after(() => agent.close());

  it("the next one neither sends the signal nor runs the command again, and ends the run when the command has", async () => {
    const checkpointCommand = "echo begun >> /begun; until [ -e /go ]; do sleep 0.1; done";
    const [saving, waiting] = [SAVING, WAITING].map((id) =>
      order(id, {
        image,
        notice: LONG,
        command: shell(HEARING),
        ...(id === SAVING ? { checkpointCommand, command: shell(null) } : {}),
      }),
    ) as [DesiredInstance, DesiredInstance];
    const relieved = [saving, waiting].map(({ notice: _, ...rest }) => rest);
    agent.server.desire(relieved);
    for (const id of [SAVING, WAITING]) await agent.server.untilState(id, "running");
    const cat = (id: number, path: string) => docker("exec", `berth-${id}-g1`, "cat", path).catch(() => "");
    await until("it hears", async () => (await cat(WAITING, READY)) !== "");
    agent.server.desire([saving, waiting]);
    await until("both told", async () => (await cat(SAVING, "/begun")) !== "" && (await cat(WAITING, "/heard")) !== "");
    await agent.kill("SIGKILL");
    agent.spawn();
    await until("another agent", () => agent.server.peers.length > 1);
    await agent.server.untilState(SAVING, "running");
    // Later than the first acts of the new agent.
    agent.server.desire([saving, { ...waiting, notice: { ...LONG, message: "newer" } }]);
    await until("the newer text", async () => (await cat(WAITING, FILE)).includes("newer"));
    assert.deepEqual([await cat(SAVING, "/begun"), await cat(WAITING, "/heard")], ["begun", "heard"]);
    await docker("exec", `berth-${SAVING}-g1`, "touch", "/go");
    await agent.server.untilState(SAVING, "stopped");
    assert.equal(agent.server.observed(WAITING)?.state, "running");
  });
});
