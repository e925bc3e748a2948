import type { Clock } from "../base/clock.ts";
import {
  fail,
  succeed,
  type CommitRequest,
  type Container,
  type ContainerSpec,
  type Engine,
  type EngineEvent,
  type ExecOutput,
  type ExecRequest,
  type FollowRequest,
  type ImageFacts,
  type LogNotes,
  type LogRequest,
  type Program,
  type PullRequest,
  type Result,
  type Usage,
} from "../engine/engine.ts";
import { parseImageReference } from "../images/image-reference.ts";
import { collectOutput } from "../engine/program.ts";
import { SimulatedLog } from "./log.ts";
import { SimulatedImages } from "./images.ts";
import { LABEL_INSTANCE } from "../instances/identity.ts";
import { simulateProgram } from "./programs.ts";
import { seedOf, simulatedLoad } from "./use.ts";

/** How long steps take, by the clock passed in: plausible, yet short enough to try a market on a laptop. */
const CREATE_MS = 20;
const START_MS = 80;
const STOP_MS = 30;
/** Bytes that a running container receives and sends for each second, since even an idle service has traffic. */
const RECEIVED_BYTES_PER_S = 20_000;
const SENT_BYTES_PER_S = 5_000;

type Simulated = {
  spec: ContainerSpec;
  phase: Container["phase"];
  exitCode: number | null;
  startedAtMs: number | null;
  finishedAtMs: number | null;
  startedMonotonicMs: number;
  /** Grows with each start, so that an end planned for one run does not meet the next. */
  run: number;
  /** The invented output of its process. */
  readonly log: SimulatedLog;
};

/**
 * Containers that exist only in memory. Image names steer what happens: a repository `does-not-exist` or a tag
 * `missing` is unknown to the registry, a repository `private` wants credentials, a tag `exit-<n>` ends by itself with
 * that code, a tag `broken` cannot be started.
 */
export function createSimulatedEngine(deps: { readonly clock: Clock; readonly random: () => number }): Engine {
  return new SimulatedEngine(deps.clock, deps.random);
}

class SimulatedEngine implements Engine {
  readonly kind = "simulated";
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #containers = new Map<string, Simulated>();
  readonly #images: SimulatedImages;
  readonly #listeners = new Set<(event: EngineEvent) => void>();
  #lastId = 0;

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
    this.#images = new SimulatedImages(clock, random);
  }

  version(): Promise<Result<string>> {
    return Promise.resolve(succeed("simulated"));
  }

  findImage(image: string): Promise<Result<ImageFacts | undefined>> {
    return Promise.resolve(succeed(this.#images.find(image)));
  }

  pull(request: PullRequest): Promise<Result<void>> {
    return this.#images.pull(request);
  }

  push(request: PullRequest): Promise<Result<void>> {
    return this.#images.push(request);
  }

  provideNetwork(): Promise<Result<null>> {
    return Promise.resolve(succeed(null));
  }

  removeNetwork(): Promise<Result<void>> {
    return Promise.resolve(succeed(undefined));
  }

  tagImage(image: string, name: string): Promise<Result<void>> {
    const isKnown = this.#images.tag(image, name);
    return Promise.resolve(isKnown ? succeed(undefined) : fail("not_found", `No such image: ${image}`));
  }

  removeImage(image: string): Promise<Result<void>> {
    this.#images.remove(image);
    return Promise.resolve(succeed(undefined));
  }

  async create(spec: ContainerSpec): Promise<Result<string>> {
    await this.#clock.sleep(CREATE_MS);
    if (!this.#images.find(spec.image)) return fail("not_found", `No such image: ${spec.image}`);
    if (this.#isNameTaken(spec.name)) return fail("conflict", `The container name "/${spec.name}" is already in use`);
    this.#lastId += 1;
    const id = `simulated-${this.#lastId}-${Math.floor(this.#random() * 2 ** 32).toString(16)}`;
    this.#containers.set(id, {
      spec,
      phase: "created",
      exitCode: null,
      startedAtMs: null,
      finishedAtMs: null,
      startedMonotonicMs: 0,
      run: 0,
      log: new SimulatedLog(() => this.#clock.now()),
    });
    this.#tell(id);
    return succeed(id);
  }

  async start(id: string): Promise<Result<void>> {
    await this.#clock.sleep(START_MS);
    const one = this.#containers.get(id);
    if (!one) return noSuchContainer(id);
    if (one.phase === "running") return succeed(undefined);
    const { tag } = parseImageReference(one.spec.image);
    if (tag === "broken") {
      return fail(
        "refused",
        'failed to create task for container: OCI runtime create failed: exec: "/missing": not found',
      );
    }
    one.phase = "running";
    one.exitCode = null;
    // Two runs never share a start, also with a coarse clock.
    one.startedAtMs = Math.max(this.#clock.now().getTime(), (one.startedAtMs ?? 0) + 1);
    one.finishedAtMs = null;
    one.startedMonotonicMs = this.#clock.monotonicMs();
    one.run += 1;
    one.log.write(`simulated: ${one.spec.image} begins, run ${one.run}`);
    one.log.isOpen = true;
    this.#tell(id);
    const exit = /^exit-(\d{1,3})$/.exec(tag);
    if (exit) void this.#endLater(id, one, one.run, Number(exit[1]));
    return succeed(undefined);
  }

  async stop(id: string, _graceMs: number): Promise<Result<void>> {
    const one = this.#containers.get(id);
    if (!one) return noSuchContainer(id);
    if (one.phase !== "running") return succeed(undefined);
    const { run } = one;
    await this.#clock.sleep(STOP_MS);
    // Another stop may have ended this run, and another start begun the next one.
    if (one.phase === "running" && one.run === run) this.#end(id, one, 143);
    return succeed(undefined);
  }

  /** Sends a signal; the simulated process goes on, as one with work to finish does. */
  signal(id: string): Promise<Result<void>> {
    const one = this.#containers.get(id);
    if (!one) return Promise.resolve(noSuchContainer(id));
    if (one.phase !== "running") return Promise.resolve(notRunning(id));
    return Promise.resolve(succeed(undefined));
  }

  async remove(id: string): Promise<Result<void>> {
    await this.#clock.sleep(STOP_MS);
    this.#containers.get(id)?.log.end();
    if (this.#containers.delete(id)) this.#tell(id);
    return succeed(undefined);
  }

  rename(id: string, name: string): Promise<Result<void>> {
    const one = this.#containers.get(id);
    if (!one) return Promise.resolve(noSuchContainer(id));
    if (this.#isNameTaken(name)) return Promise.resolve(fail("conflict", `The name "/${name}" is already in use`));
    one.spec = { ...one.spec, name };
    this.#tell(id);
    return Promise.resolve(succeed(undefined));
  }

  inspect(id: string): Promise<Result<Container>> {
    const one = this.#containers.get(id);
    return Promise.resolve(one ? succeed(describe(id, one)) : noSuchContainer(id));
  }

  list(label: string, value: string): Promise<Result<readonly Container[]>> {
    const found = [...this.#containers].filter(([, one]) => one.spec.labels[label] === value);
    return Promise.resolve(succeed(found.map(([id, one]) => describe(id, one))));
  }

  usage(id: string): Promise<Result<Usage>> {
    const one = this.#containers.get(id);
    if (one?.phase !== "running") return Promise.resolve(noSuchContainer(id));
    const ageMs = this.#clock.monotonicMs() - one.startedMonotonicMs;
    const seconds = ageMs / 1000;
    const instanceId = Number(one.spec.labels[LABEL_INSTANCE]);
    const { cpuPercent, memoryBytes } = simulatedLoad(seedOf({ instanceId }), ageMs);
    return Promise.resolve(
      succeed({
        receivedBytes: Math.floor(seconds * RECEIVED_BYTES_PER_S),
        sentBytes: Math.floor(seconds * SENT_BYTES_PER_S),
        cpuPercent,
        memoryBytes,
      }),
    );
  }

  async exec(id: string, request: ExecRequest): Promise<Result<ExecOutput>> {
    const program = await this.open(id, request.argv);
    return program.ok ? collectOutput(program.value, request) : program;
  }

  open(id: string, argv: readonly string[]): Promise<Result<Program>> {
    const one = this.#containers.get(id);
    if (!one) return Promise.resolve(noSuchContainer(id));
    if (one.phase !== "running") return Promise.resolve(notRunning(id));
    return Promise.resolve(succeed(simulateProgram(argv)));
  }

  logs(id: string, request: LogRequest): Promise<Result<string>> {
    const one = this.#containers.get(id);
    return Promise.resolve(one ? succeed(one.log.tail(request)) : noSuchContainer(id));
  }

  followLogs(id: string, request: FollowRequest): Promise<Result<LogNotes>> {
    const one = this.#containers.get(id);
    return Promise.resolve(one ? succeed(one.log.follow(request)) : noSuchContainer(id));
  }

  async commit(id: string, request: CommitRequest): Promise<Result<string>> {
    await this.#clock.sleep(CREATE_MS);
    if (!this.#containers.has(id)) return noSuchContainer(id);
    return succeed(this.#images.add(`${request.repository}:${request.tag}`));
  }

  subscribe(label: string, value: string, listener: (event: EngineEvent) => void): () => void {
    const own = (event: EngineEvent) => {
      const one = event.kind === "container" ? this.#containers.get(event.id) : undefined;
      // A removed container has no labels left to ask, so its event goes to everybody.
      if (!one || one.spec.labels[label] === value) listener(event);
    };
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  close(): void {
    this.#listeners.clear();
  }

  async #endLater(id: string, one: Simulated, run: number, exitCode: number): Promise<void> {
    await this.#clock.sleep(START_MS);
    if (one.run === run && one.phase === "running" && this.#containers.has(id)) this.#end(id, one, exitCode);
  }

  #end(id: string, one: Simulated, exitCode: number): void {
    one.phase = "exited";
    one.log.end(`simulated: the process ends with code ${exitCode}`);
    one.exitCode = exitCode;
    one.finishedAtMs = Math.max(this.#clock.now().getTime(), one.startedAtMs ?? 0);
    this.#tell(id);
  }

  #isNameTaken(name: string): boolean {
    for (const one of this.#containers.values()) if (one.spec.name === name) return true;
    return false;
  }

  #tell(id: string): void {
    for (const listener of this.#listeners) listener({ kind: "container", id });
  }
}

function describe(id: string, one: Simulated): Container {
  const { phase, exitCode, startedAtMs, finishedAtMs, spec } = one;
  return {
    id,
    name: spec.name,
    labels: spec.labels,
    phase,
    exitCode,
    startedAtMs,
    finishedAtMs,
    ports: spec.ports,
    network: null,
    layerDirectory: null,
  };
}

function notRunning(id: string): ReturnType<typeof fail> {
  return fail("conflict", `Container ${id} is not running`);
}

function noSuchContainer(id: string): ReturnType<typeof fail> {
  return fail("not_found", `No such container: ${id}`);
}
