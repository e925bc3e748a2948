import type { Clock } from "../clock.ts";
import {
  fail,
  succeed,
  type Container,
  type ContainerSpec,
  type Engine,
  type EngineEvent,
  type PullRequest,
  type Result,
} from "../engine.ts";
import { parseImageReference } from "../image-reference.ts";

/** How long steps take, by the clock passed in: plausible, yet short enough to try a market on a laptop. */
const PULL_STEPS = 5;
const PULL_STEP_MS = 60;
const CREATE_MS = 20;
const START_MS = 80;
const STOP_MS = 30;
const BYTES_PER_MB = 1e6;
/** An idle service is still talked to: what a running container receives and sends for each second. */
const RECEIVED_BYTES_PER_S = 20_000;
const SENT_BYTES_PER_S = 5_000;
const IMAGE_LIMIT = 256;

type Simulated = {
  spec: ContainerSpec;
  phase: Container["phase"];
  exit_code: number | null;
  started_at_ms: number | null;
  finished_at_ms: number | null;
  started_monotonic_ms: number;
  /** Grows with each start, so that an end planned for one run does not meet the next. */
  run: number;
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
  readonly #images = new Set<string>();
  readonly #listeners = new Set<(event: EngineEvent) => void>();
  #lastId = 0;

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  version(): Promise<Result<string>> {
    return Promise.resolve(succeed("simulated"));
  }

  hasImage(image: string): Promise<Result<boolean>> {
    return Promise.resolve(succeed(this.#images.has(canonical(image))));
  }

  async pull(request: PullRequest): Promise<Result<void>> {
    const { repository, tag } = parseImageReference(request.image);
    await this.#clock.sleep(PULL_STEP_MS, request.signal);
    if (request.signal.aborted) return fail("cancelled", "the pull was called off");
    const name = repository.slice(repository.lastIndexOf("/") + 1);
    if (name === "does-not-exist" || tag === "missing") {
      return fail("not_found", `manifest for ${repository}:${tag} not found: manifest unknown: manifest unknown`);
    }
    if (name === "private" && request.auth === null) {
      return fail(
        "denied",
        `pull access denied for ${repository}, repository does not exist or may require 'docker login'`,
      );
    }
    if (this.#images.has(canonical(request.image))) return succeed(undefined);
    const total_bytes = Math.round((20 + this.#random() * 400) * BYTES_PER_MB);
    for (let step = 1; step <= PULL_STEPS; step += 1) {
      await this.#clock.sleep(PULL_STEP_MS, request.signal);
      if (request.signal.aborted) return fail("cancelled", "the pull was called off");
      request.onProgress({ received_bytes: Math.round((total_bytes * step) / PULL_STEPS), total_bytes });
    }
    if (this.#images.size >= IMAGE_LIMIT) this.#images.clear();
    this.#images.add(canonical(request.image));
    return succeed(undefined);
  }

  async create(spec: ContainerSpec): Promise<Result<string>> {
    await this.#clock.sleep(CREATE_MS);
    if (!this.#images.has(canonical(spec.image))) return fail("not_found", `No such image: ${spec.image}`);
    if (this.#isNameTaken(spec.name)) return fail("conflict", `The container name "/${spec.name}" is already in use`);
    this.#lastId += 1;
    const id = `simulated-${this.#lastId}-${Math.floor(this.#random() * 2 ** 32).toString(16)}`;
    this.#containers.set(id, {
      spec,
      phase: "created",
      exit_code: null,
      started_at_ms: null,
      finished_at_ms: null,
      started_monotonic_ms: 0,
      run: 0,
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
    one.exit_code = null;
    // Two runs never share a start, whatever the resolution of the clock.
    one.started_at_ms = Math.max(this.#clock.now().getTime(), (one.started_at_ms ?? 0) + 1);
    one.finished_at_ms = null;
    one.started_monotonic_ms = this.#clock.monotonicMs();
    one.run += 1;
    this.#tell(id);
    const exit = /^exit-(\d{1,3})$/.exec(tag);
    if (exit) void this.#endLater(id, one, one.run, Number(exit[1]));
    return succeed(undefined);
  }

  async stop(id: string, _grace_ms: number): Promise<Result<void>> {
    const one = this.#containers.get(id);
    if (!one) return noSuchContainer(id);
    if (one.phase !== "running") return succeed(undefined);
    await this.#clock.sleep(STOP_MS);
    if (one.phase === "running") this.#end(id, one, 143);
    return succeed(undefined);
  }

  async remove(id: string): Promise<Result<void>> {
    await this.#clock.sleep(STOP_MS);
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

  traffic(id: string): Promise<Result<{ received_bytes: number; sent_bytes: number }>> {
    const one = this.#containers.get(id);
    if (one?.phase !== "running") return Promise.resolve(noSuchContainer(id));
    const seconds = (this.#clock.monotonicMs() - one.started_monotonic_ms) / 1000;
    const received_bytes = Math.floor(seconds * RECEIVED_BYTES_PER_S);
    return Promise.resolve(succeed({ received_bytes, sent_bytes: Math.floor(seconds * SENT_BYTES_PER_S) }));
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

  async #endLater(id: string, one: Simulated, run: number, exit_code: number): Promise<void> {
    await this.#clock.sleep(START_MS);
    if (one.run === run && one.phase === "running" && this.#containers.has(id)) this.#end(id, one, exit_code);
  }

  #end(id: string, one: Simulated, exit_code: number): void {
    one.phase = "exited";
    one.exit_code = exit_code;
    one.finished_at_ms = Math.max(this.#clock.now().getTime(), one.started_at_ms ?? 0);
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
  const { phase, exit_code, started_at_ms, finished_at_ms, spec } = one;
  return {
    id,
    name: spec.name,
    labels: spec.labels,
    phase,
    exit_code,
    started_at_ms,
    finished_at_ms,
    ports: spec.ports,
  };
}

function canonical(image: string): string {
  const { repository, tag } = parseImageReference(image);
  return `${repository}:${tag}`;
}

function noSuchContainer(id: string): ReturnType<typeof fail> {
  return fail("not_found", `No such container: ${id}`);
}
