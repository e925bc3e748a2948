import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { until } from "../../../test/support/until.ts";
import type { ContainerSpec, Engine, EngineEvent, ExecRequest, PullProgress, Result } from "./engine.ts";
import type { LogNote } from "../wire/messages.ts";
import { parseLogPlace } from "./log-places.ts";
import { faultOf } from "./fault.ts";

/** An engine with the images and programs that the suite exercises it with. */
export type EngineFixture = {
  readonly engine: Engine;
  /** An image that runs until it is stopped, and one that nobody has. */
  readonly image: string;
  readonly missingImage: string;
  /** Recipes of a process that ends by itself with code 3, and of one that cannot be started. */
  readonly exiting: Partial<ContainerSpec>;
  readonly broken: Partial<ContainerSpec>;
  /** Programs that print `out` and `err` on their two streams and end with 3, print for ever, and only wait. */
  readonly programs: { readonly speaking: string[]; readonly endless: string[]; readonly waiting: string[] };
  /** A process whose first run has printed something that holds the word. */
  readonly printing: Partial<ContainerSpec>;
  readonly printed: string;
  /** A repository of a registry that takes no image. */
  readonly refusingRepository: string;
  readonly dispose: () => Promise<void>;
};

const LABEL = "berth.contract";
const ALL_LINES = { tailLines: 1_000, filter: "", limitBytes: 65_536 };
const KILLED = 137;

/** The tests that every engine passes, with real containers or simulated ones. */
export function testEngineContract(name: string, label: string, setUp: () => Promise<EngineFixture>): void {
  describe(`${name} keeps the engine contract`, () => {
    let fixture: EngineFixture;
    let count = 0;
    before(async () => {
      fixture = await setUp();
      await pull(fixture.engine, fixture.image);
    });
    after(() => fixture.dispose());

    const spec = (changes: Partial<ContainerSpec> = {}): ContainerSpec => {
      count += 1;
      return { ...plainSpec(`berth-contract-${label}-${count}`, fixture.image, label), ...changes };
    };
    const create = async (changes: Partial<ContainerSpec> = {}) => value(await fixture.engine.create(spec(changes)));
    const inspect = async (id: string) => value(await fixture.engine.inspect(id));

    it("tells its version", async () => {
      assert.notEqual(value(await fixture.engine.version()), "");
    });

    it("a container goes from created through running to exited, with the times of its run", async () => {
      const id = await create();
      const created = await inspect(id);
      assert.equal(created.phase, "created");
      assert.deepEqual([created.startedAtMs, created.finishedAtMs, created.exitCode], [null, null, null]);
      value(await fixture.engine.start(id));
      const running = await inspect(id);
      assert.equal(running.phase, "running");
      assert.ok(running.startedAtMs !== null && running.finishedAtMs === null && running.exitCode === null);
      value(await fixture.engine.stop(id, 1_000));
      const exited = await inspect(id);
      assert.equal(exited.phase, "exited");
      assert.ok(Number.isInteger(exited.exitCode));
      assert.ok((exited.finishedAtMs ?? 0) >= running.startedAtMs);
    });

    it("a second start has a start time of its own", async () => {
      const id = await create();
      value(await fixture.engine.start(id));
      const first = (await inspect(id)).startedAtMs;
      value(await fixture.engine.stop(id, 1_000));
      value(await fixture.engine.start(id));
      assert.notEqual((await inspect(id)).startedAtMs, first);
    });

    it("starting twice, stopping twice and removing twice succeed", async () => {
      const id = await create();
      for (let i = 0; i < 2; i += 1) value(await fixture.engine.start(id));
      for (let i = 0; i < 2; i += 1) value(await fixture.engine.stop(id, 1_000));
      for (let i = 0; i < 2; i += 1) value(await fixture.engine.remove(id));
    });

    it("removing what never existed succeeds, everything else about it is not_found", async () => {
      const { engine } = fixture;
      value(await engine.remove("no-such-container"));
      assert.equal(kind(await engine.start("no-such-container")), "not_found");
      assert.equal(kind(await engine.stop("no-such-container", 0)), "not_found");
      assert.equal(kind(await engine.rename("no-such-container", "berth-other")), "not_found");
      assert.equal(kind(await engine.inspect("no-such-container")), "not_found");
      assert.equal(kind(await engine.usage("no-such-container")), "not_found");
      assert.equal(kind(await engine.signal("no-such-container", "SIGTERM")), "not_found");
      assert.equal(kind(await engine.open("no-such-container", ["true"])), "not_found");
      assert.equal(kind(await engine.logs("no-such-container", ALL_LINES)), "not_found");
      const commit = { repository: "berth-contract/nothing", tag: "1", isPaused: false };
      assert.equal(kind(await engine.commit("no-such-container", commit)), "not_found");
    });

    it("removes a running container", async () => {
      const id = await create();
      value(await fixture.engine.start(id));
      value(await fixture.engine.remove(id));
      assert.equal(kind(await fixture.engine.inspect(id)), "not_found");
    });

    it("a taken name is a conflict, for creating and for renaming", async () => {
      const { engine } = fixture;
      const first = spec();
      value(await engine.create(first));
      assert.equal(kind(await engine.create({ ...spec(), name: first.name })), "conflict");
      assert.equal(kind(await engine.rename(await create(), first.name)), "conflict");
    });

    it("a renamed container is the same one, also while it runs", async () => {
      const id = await create();
      value(await fixture.engine.start(id));
      const name = `berth-contract-${label}-renamed`;
      value(await fixture.engine.rename(id, name));
      const renamed = await inspect(id);
      assert.deepEqual([renamed.name, renamed.phase], [name, "running"]);
    });

    it("lists containers of the label in every phase, with labels, names and ports", async () => {
      const own = { [LABEL]: `${label}-list` };
      const ports = [{ containerPort: 80, protocol: "tcp" as const, hostPort: 30_431 }];
      const created = await create({ labels: own, ports });
      const running = await create({ labels: own });
      value(await fixture.engine.start(running));
      const listed = value(await fixture.engine.list(LABEL, `${label}-list`));
      const phases = new Map(listed.map((one) => [one.id, one.phase]));
      assert.deepEqual(
        phases,
        new Map([
          [created, "created"],
          [running, "running"],
        ]),
      );
      const found = listed.find((one) => one.id === created);
      assert.deepEqual(found?.ports, ports);
      assert.equal(found?.labels[LABEL], `${label}-list`);
    });

    it("a process that ends by itself leaves its code and is not started again", async () => {
      const events: EngineEvent[] = [];
      const unsubscribe = fixture.engine.subscribe(LABEL, label, (event) => events.push(event));
      const id = await create(fixture.exiting);
      value(await fixture.engine.start(id));
      const ended = await until("its end", async () => {
        const one = await inspect(id);
        return one.phase === "exited" && one;
      });
      assert.equal(ended.exitCode, 3);
      await until("an event", () => events.some((event) => event.kind === "container" && event.id === id));
      unsubscribe();
    });

    it("a signal reaches what runs and nothing else", async () => {
      const id = await create();
      assert.equal(kind(await fixture.engine.signal(id, "SIGTERM")), "conflict");
      value(await fixture.engine.start(id));
      value(await fixture.engine.signal(id, "SIGTERM"));
    });

    it("a container that cannot be started is refused with the engine's own text", async () => {
      const started = await fixture.engine.start(await create(fixture.broken));
      assert.ok(!started.ok);
      assert.match(started.failure.message, /OCI runtime create failed/);
      assert.equal(faultOf(started.failure), "image");
    });

    it("an image that nobody has is refused, and a called-off pull is cancelled", async () => {
      const { engine, missingImage: image } = fixture;
      assert.equal(value(await engine.findImage(image)), undefined);
      const onProgress = () => undefined;
      const missing = await engine.pull({ image, auth: null, signal: new AbortController().signal, onProgress });
      assert.ok(!missing.ok);
      assert.notEqual(missing.failure.message, "");
      const cancelled = await engine.pull({ image, auth: null, signal: AbortSignal.abort(), onProgress });
      assert.equal(kind(cancelled), "cancelled");
    });

    it("usage is told while running and unknown otherwise", async () => {
      const id = await create();
      assert.equal(kind(await fixture.engine.usage(id)), "not_found");
      value(await fixture.engine.start(id));
      for (let reading = 0; reading < 2; reading += 1) {
        const usage = value(await fixture.engine.usage(id));
        for (const amount of Object.values(usage)) assert.ok(Number.isFinite(amount) && amount >= 0);
        assert.ok(usage.memoryBytes > 0);
      }
      value(await fixture.engine.stop(id, 1_000));
      assert.equal(kind(await fixture.engine.usage(id)), "not_found");
    });

    testPrograms(name, () => ({ ...fixture, create }));
    testImages(name, () => ({ ...fixture, create }));
  });
}

type Bound = EngineFixture & { readonly create: (changes?: Partial<ContainerSpec>) => Promise<string> };

function testPrograms(name: string, bound: () => Bound): void {
  const start = async (changes: Partial<ContainerSpec> = {}) => {
    const { engine, create } = bound();
    const id = await create(changes);
    value(await engine.start(id));
    return id;
  };
  const exec = async (id: string, argv: readonly string[], changes: Partial<ExecRequest> = {}) => {
    const request = { argv, signal: new AbortController().signal, outputLimitBytes: 65_536, ...changes };
    return bound().engine.exec(id, request);
  };

  describe(`${name} runs programs beside the main process`, () => {
    it("both streams and the exit code come back", async () => {
      const output = value(await exec(await start(), bound().programs.speaking));
      assert.deepEqual(
        [output.exitCode, String(output.stdout).trim(), String(output.stderr).trim()],
        [3, "out", "err"],
      );
    });

    it("more output than allowed is cut off, and the program with it", async () => {
      const output = value(await exec(await start(), bound().programs.endless, { outputLimitBytes: 5_000 }));
      assert.deepEqual([output.exitCode, output.stdout.length + output.stderr.length], [KILLED, 5_000]);
    });

    it("a program that is called off is over", async () => {
      const id = await start();
      const abort = new AbortController();
      const running = exec(id, bound().programs.waiting, { signal: abort.signal });
      abort.abort();
      assert.equal(kind(await running), "cancelled");
    });

    it("only a running container runs programs", async () => {
      const { create, programs } = bound();
      assert.equal(kind(await exec(await create(), programs.speaking)), "conflict");
    });

    it("the log is there after the end, the newest lines and bytes of it and those with a word", async () => {
      const { engine, printing, printed } = bound();
      const id = await start(printing);
      await until("its words", async () => value(await engine.logs(id, ALL_LINES)).includes(printed));
      value(await engine.stop(id, 1_000));
      const whole = value(await engine.logs(id, ALL_LINES));
      const lines = whole.trimEnd().split("\n");
      assert.ok(lines.some((line) => line.includes(printed)));
      assert.equal(value(await engine.logs(id, { ...ALL_LINES, tailLines: 1 })), `${lines.at(-1)}\n`);
      assert.equal(value(await engine.logs(id, { ...ALL_LINES, tailLines: 0 })), "");
      const found = value(await engine.logs(id, { ...ALL_LINES, filter: printed }))
        .trimEnd()
        .split("\n");
      assert.ok(found.length > 0 && found.every((line) => line.includes(printed)));
      const cut = value(await engine.logs(id, { ...ALL_LINES, limitBytes: 10 }));
      assert.ok(cut.length <= 10 && whole.endsWith(cut));
    });

    it("a followed log comes as it is written, ends with the container, and resumes behind each of its places", async () => {
      const { engine, printing, printed } = bound();
      const id = await start(printing);
      const follow = async (after: string | undefined, follows: boolean, heard: LogNote[] = []) => {
        const place = after === undefined ? undefined : parseLogPlace(after);
        const request = { tailLines: 1_000, follows, after: place, signal: new AbortController().signal };
        for await (const notes of value(await engine.followLogs(id, request))) heard.push(...notes);
        return heard;
      };
      const heard: LogNote[] = [];
      const followed = follow(undefined, true, heard);
      await until("its words", () => textOf(heard).includes(printed));
      value(await engine.stop(id, 1_000));
      await followed;
      assert.deepEqual(heard.at(-1), { kind: "end" });
      assert.deepEqual(await follow(undefined, false), heard);
      const pieces = heard.flatMap((note, index) => (note.kind === "text" ? [{ ...note, index }] : []));
      for (const { place, index } of pieces) assert.deepEqual(await follow(place, true), heard.slice(index + 1));
      const [gap, ...rest] = await follow("1-0", true);
      assert.deepEqual([gap, ...rest], [{ kind: "gap" }, ...heard]);
    });

    it("following ends when it is called off", async () => {
      const { engine, printing } = bound();
      const abort = new AbortController();
      const request = { tailLines: 10, follows: true, after: undefined, signal: abort.signal };
      const notes = value(await engine.followLogs(await start(printing), request));
      const reading = (async () => {
        for await (const _ of notes) abort.abort();
      })();
      await assert.rejects(reading);
    });
  });
}

function testImages(name: string, bound: () => Bound): void {
  const repository = "berth-contract/committed";
  const signal = new AbortController().signal;
  const onProgress = () => undefined;

  describe(`${name} makes and forgets images`, () => {
    it("a committed container is an image, which is forgotten once and for all", async () => {
      const { engine, create } = bound();
      const imageId = value(await engine.commit(await create(), { repository, tag: "1", isPaused: false }));
      assert.equal(value(await engine.findImage(`${repository}:1`))?.id, imageId);
      value(await engine.tagImage(imageId, `${repository}:2`));
      assert.equal(value(await engine.findImage(`${repository}:2`))?.id, imageId);
      assert.equal(kind(await engine.tagImage(`${repository}:none`, `${repository}:3`)), "not_found");
      for (const tag of ["1", "2"]) {
        for (let i = 0; i < 2; i += 1) value(await engine.removeImage(`${repository}:${tag}`));
        assert.equal(value(await engine.findImage(`${repository}:${tag}`)), undefined);
      }
    });

    it("a refused push is reported, and a push can be called off", async () => {
      const { engine, create, refusingRepository } = bound();
      const commit = { repository: refusingRepository, tag: "1", isPaused: true };
      const image = `${refusingRepository}:1`;
      value(await engine.commit(await create(), commit));
      const refused = await engine.push({ image, auth: null, signal, onProgress });
      assert.ok(!refused.ok);
      assert.notEqual(refused.failure.message, "");
      const called = await engine.push({ image, auth: null, signal: AbortSignal.abort(), onProgress });
      assert.equal(kind(called), "cancelled");
      value(await engine.removeImage(image));
    });
  });
}

/** A recipe without anything special. */
export function plainSpec(name: string, image: string, label: string): ContainerSpec {
  return {
    name,
    image,
    labels: { [LABEL]: label },
    env: [],
    entrypoint: null,
    command: null,
    hasInit: true,
    hostname: null,
    user: null,
    network: null,
    mounts: [],
    imageVolumes: [],
    bindAddress: "127.0.0.1",
    ports: [],
    gpuUuids: [],
    cpuMillis: 0,
    memoryBytes: 0,
  };
}

/** The label under which the suite's containers can be found and removed. */
export const CONTRACT_LABEL = LABEL;

async function pull(engine: Engine, image: string): Promise<void> {
  if (value(await engine.findImage(image))) return;
  const seen: PullProgress[] = [];
  const signal = new AbortController().signal;
  value(await engine.pull({ image, auth: null, signal, onProgress: (progress) => seen.push(progress) }));
  assert.equal(value(await engine.findImage(image)) !== undefined, true);
  for (const { receivedBytes, totalBytes } of seen) assert.ok(receivedBytes <= totalBytes);
}

function value<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(`${result.failure.kind}: ${result.failure.message}`);
  return result.value;
}

function kind(result: Result<unknown>): string {
  return result.ok ? "ok" : result.failure.kind;
}

function textOf(notes: readonly LogNote[]): string {
  return notes.map((note) => (note.kind === "text" ? note.text : "")).join("");
}
