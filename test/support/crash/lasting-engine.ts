// Simulated containers that outlive their agent, as real ones do. The engine keeps its state in a file, with a log of
// every start and end that only the engine writes.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Clock } from "../../../agent/src/base/clock.ts";
import { fail, succeed, type Container, type ContainerSpec, type Engine } from "../../../agent/src/engine/engine.ts";
import { createSimulatedEngine } from "../../../agent/src/simulated/engine.ts";
import { simulateProgram } from "../../../agent/src/simulated/programs.ts";

/** How often the process of an engine and its agent shows that it does not stand still. */
export const PULSE_MS = 250;

/** A run of a container from its start to its end, by the clock of its machine. */
export type EngineRun = {
  readonly containerId: string;
  /** The name under which it was started: it says for whom, and in which generation. */
  readonly name: string;
  readonly startedAtMs: number;
  /** The end of the run; null while it runs. */
  finishedAtMs: number | null;
  /** True when the run ended with the power, which nobody saw. */
  wasLost?: boolean;
};

export type RunningContainer = { readonly id: string; readonly startedAtMs: number; readonly spec: ContainerSpec };

type Kept = Pick<Container, "phase" | "exitCode" | "startedAtMs" | "finishedAtMs"> & { spec: ContainerSpec };
type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
type State = {
  bootId: string;
  lastId: number;
  readonly containers: Record<string, Mutable<Kept>>;
  readonly images: string[];
  readonly runs: EngineRun[];
};

const [CREATE_MS, START_MS, STOP_MS] = [20, 60, 30];
const [RECEIVED_BYTES_PER_S, SENT_BYTES_PER_S] = [200_000, 50_000];
/** The exit code that an engine tells of a container that went with the power. */
const LOST_EXIT_CODE = 255;
/** The shell's exit code of a process that ended by SIGTERM. */
const TERMINATED_EXIT_CODE = 143;

export type LastingInput = {
  readonly clock: Clock;
  readonly random: () => number;
  readonly file: string;
  /** The boot of the machine: under another id than before, no earlier container runs any more. */
  readonly bootId: string;
};

/** Every run that the engine of this file ever had. */
export function readEngineRuns(file: string): readonly EngineRun[] {
  return existsSync(file) ? readState(file).runs : [];
}

/** The containers that run in the engine of this file, with the variables and ports that they were made with. */
export function readRunning(file: string): readonly RunningContainer[] {
  if (!existsSync(file)) return [];
  return Object.entries(readState(file).containers).flatMap(([id, { spec, phase, startedAtMs }]) =>
    phase === "running" ? [{ id, startedAtMs: startedAtMs ?? 0, spec }] : [],
  );
}

/** How many containers are left there, running or not. */
export function countContainers(file: string): number {
  return existsSync(file) ? Object.keys(readState(file).containers).length : 0;
}

/**
 * Simulates a loss of power: all containers end now, and the engine learns of it when the machine is up again. Its
 * agent is dead.
 */
export function losePower(file: string, at: Date): void {
  if (!existsSync(file)) return;
  const state = readState(file);
  for (const run of state.runs) {
    if (run.finishedAtMs === null) Object.assign(run, { finishedAtMs: at.getTime(), wasLost: true });
  }
  writeState(file, state);
}

export async function createLastingEngine({ clock, random, file, bootId }: LastingInput): Promise<Engine> {
  const state = existsSync(file) ? readState(file) : newState(bootId);
  if (state.bootId !== bootId) awake(state, { bootId, nowMs: clock.now().getTime() });
  const images = createSimulatedEngine({ clock, random });
  const nothing = { auth: null, signal: new AbortController().signal, onProgress: () => undefined };
  for (const image of state.images) await images.pull({ ...nothing, image });
  writeState(file, state);
  return new LastingEngine({ clock, file, state, images });
}

type Parts = { readonly clock: Clock; readonly file: string; readonly state: State; readonly images: Engine };

/** An engine whose images are those of the simulated one; its containers are its own. */
class LastingEngine implements Engine {
  readonly kind = "simulated";
  readonly #parts: Parts;
  readonly #listeners = new Set<Parameters<Engine["subscribe"]>[2]>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  version: Engine["version"] = () => this.#parts.images.version();
  findImage: Engine["findImage"] = (image) => this.#parts.images.findImage(image);
  provideNetwork: Engine["provideNetwork"] = (network) => this.#parts.images.provideNetwork(network);
  removeNetwork: Engine["removeNetwork"] = (name) => this.#parts.images.removeNetwork(name);
  tagImage: Engine["tagImage"] = (image, name) => this.#parts.images.tagImage(image, name);
  push: Engine["push"] = (request) => this.#parts.images.push(request);
  removeImage: Engine["removeImage"] = (image) => this.#parts.images.removeImage(image);

  pull: Engine["pull"] = async (request) => {
    const { images, state } = this.#parts;
    const pulled = await images.pull(request);
    if (pulled.ok && !state.images.includes(request.image)) state.images.push(request.image);
    return pulled;
  };

  /** Waits as long as a real engine would take. */
  #take(ms: number): Promise<void> {
    return this.#parts.clock.sleep(ms);
  }

  create: Engine["create"] = async (spec) => {
    const { state } = this.#parts;
    await this.#take(CREATE_MS);
    if (this.#isNameTaken(spec.name)) return fail("conflict", `The container name "/${spec.name}" is already in use`);
    state.lastId += 1;
    const id = `lasting-${state.lastId}`;
    state.containers[id] = { spec, phase: "created", exitCode: null, startedAtMs: null, finishedAtMs: null };
    this.#changed(id);
    return succeed(id);
  };

  start: Engine["start"] = async (id) => {
    const { clock, state } = this.#parts;
    await this.#take(START_MS);
    const one = state.containers[id];
    if (one === undefined) return noSuchContainer(id);
    if (one.phase === "running") return succeed(undefined);
    const startedAtMs = Math.max(clock.now().getTime(), (one.startedAtMs ?? 0) + 1);
    Object.assign(one, { phase: "running", exitCode: null, startedAtMs, finishedAtMs: null });
    state.runs.push({ containerId: id, name: one.spec.name, startedAtMs, finishedAtMs: null });
    this.#changed(id);
    return succeed(undefined);
  };

  stop: Engine["stop"] = async (id) => {
    const { state } = this.#parts;
    if (state.containers[id] === undefined) return noSuchContainer(id);
    await this.#take(STOP_MS);
    if (this.#end(id)) this.#changed(id);
    return succeed(undefined);
  };

  remove: Engine["remove"] = async (id) => {
    const { state } = this.#parts;
    await this.#take(STOP_MS);
    this.#end(id);
    delete state.containers[id];
    this.#changed(id);
    return succeed(undefined);
  };

  rename: Engine["rename"] = (id, name) => {
    const one = this.#parts.state.containers[id];
    if (one === undefined) return Promise.resolve(noSuchContainer(id));
    if (this.#isNameTaken(name)) return Promise.resolve(fail("conflict", `The name "/${name}" is already in use`));
    one.spec = { ...one.spec, name };
    this.#changed(id);
    return Promise.resolve(succeed(undefined));
  };

  signal: Engine["signal"] = (id) => Promise.resolve(this.#isRunning(id) ? succeed(undefined) : notRunning(id));

  inspect: Engine["inspect"] = (id) => {
    const one = this.#parts.state.containers[id];
    return Promise.resolve(one === undefined ? noSuchContainer(id) : succeed(describe(id, one)));
  };

  list: Engine["list"] = (label, value) => {
    const all = Object.entries(this.#parts.state.containers);
    const found = all.filter(([, one]) => one.spec.labels[label] === value);
    return Promise.resolve(succeed(found.map(([id, one]) => describe(id, one))));
  };

  usage: Engine["usage"] = (id) => {
    const { clock, state } = this.#parts;
    const one = state.containers[id];
    if (one?.phase !== "running") return Promise.resolve(noSuchContainer(id));
    const seconds = (clock.now().getTime() - (one.startedAtMs ?? 0)) / 1000;
    return Promise.resolve(
      succeed({
        receivedBytes: Math.floor(seconds * RECEIVED_BYTES_PER_S),
        sentBytes: Math.floor(seconds * SENT_BYTES_PER_S),
        cpuPercent: 1,
        memoryBytes: 2 ** 20,
      }),
    );
  };

  exec: Engine["exec"] = (id) => Promise.resolve(notRunning(id));
  commit: Engine["commit"] = (id) => Promise.resolve(notRunning(id));
  logs: Engine["logs"] = () => Promise.resolve(succeed(""));
  followLogs: Engine["followLogs"] = () => Promise.resolve(fail("refused", "there is no log"));
  open: Engine["open"] = (id, argv) =>
    Promise.resolve(this.#isRunning(id) ? succeed(simulateProgram(argv)) : notRunning(id));

  subscribe: Engine["subscribe"] = (_label, _value, listener) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  close(): void {
    this.#listeners.clear();
    this.#parts.images.close();
  }

  #isRunning(id: string): boolean {
    return this.#parts.state.containers[id]?.phase === "running";
  }

  #isNameTaken(name: string): boolean {
    return Object.values(this.#parts.state.containers).some(({ spec }) => spec.name === name);
  }

  /** Ends a container; false when it did not run. */
  #end(id: string): boolean {
    const { clock, state } = this.#parts;
    const one = state.containers[id];
    if (one?.phase !== "running") return false;
    const finishedAtMs = Math.max(clock.now().getTime(), one.startedAtMs ?? 0);
    Object.assign(one, { phase: "exited", exitCode: TERMINATED_EXIT_CODE, finishedAtMs });
    for (const run of state.runs) if (run.containerId === id) run.finishedAtMs ??= finishedAtMs;
    return true;
  }

  /** Writes the change to the file before anybody is told of it. */
  #changed(id: string): void {
    writeState(this.#parts.file, this.#parts.state);
    for (const listener of this.#listeners) listener({ kind: "container", id });
  }
}

/** Marks containers that ran before a loss of power as ended now, as Docker does at its first look after a boot. */
function awake(state: State, { bootId, nowMs }: { readonly bootId: string; readonly nowMs: number }): void {
  state.bootId = bootId;
  for (const one of Object.values(state.containers)) {
    if (one.phase !== "running") continue;
    Object.assign(one, { phase: "exited", exitCode: LOST_EXIT_CODE, finishedAtMs: nowMs });
  }
}

function newState(bootId: string): State {
  return { bootId, lastId: 0, containers: {}, images: [], runs: [] };
}

function readState(file: string): State {
  return JSON.parse(readFileSync(file, "utf8"));
}

function writeState(file: string, state: State): void {
  writeFileSync(`${file}.new`, JSON.stringify(state));
  renameSync(`${file}.new`, file);
}

function describe(id: string, { spec, phase, exitCode, startedAtMs, finishedAtMs }: Kept): Container {
  const { name, labels, ports } = spec;
  return {
    ...{ id, name, labels, phase, exitCode, startedAtMs, finishedAtMs, ports },
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
