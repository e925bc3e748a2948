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
  type ProgramUser,
  type NetworkAddress,
  type NetworkSpec,
  type PullRequest,
  type Result,
  type SignalName,
  type Usage,
} from "../engine/engine.ts";
import { parseImageReference } from "../images/image-reference.ts";
import { collectOutput } from "../engine/program.ts";
import { createBody } from "./body.ts";
import { commitContainer } from "./commit.ts";
import { connectDocker, type Call, type DockerConnection } from "./connection.ts";
import { watchEvents } from "./events.ts";
import { openProgram } from "./exec.ts";
import { followLogs } from "./follow-logs.ts";
import { readLogs } from "./logs.ts";
import { provideNetwork, removeNetwork } from "./network.ts";
import { pullImage, pushImage } from "./pull.ts";
import {
  readContainer,
  readCreatedId,
  readImage,
  readListedIds,
  readNetworkAddress,
  readStats,
  readStorage,
  readVersion,
  type Reading,
  type Storage,
} from "./read.ts";

/** The newest interface this file was written for. A daemon that has dropped it is asked for its oldest instead. */
const NEWEST_KNOWN_API = "1.51";
const NANOSECONDS_PER_MILLISECOND = 1e6;

/**
 * Docker Engine behind its socket. The interface version is negotiated with the first answer and again after the
 * daemon was silent, since it may have been upgraded meanwhile.
 */
export function createDockerEngine(deps: { readonly socketPath: string; readonly clock: Clock }): DockerEngine {
  return new DockerEngine(deps.socketPath, deps.clock);
}

/** Picks the newest version that both sides know. */
export function chooseApiVersion(api: string, oldestApi: string): string {
  if (compareVersions(api, NEWEST_KNOWN_API) <= 0) return api;
  return compareVersions(oldestApi, NEWEST_KNOWN_API) <= 0 ? NEWEST_KNOWN_API : oldestApi;
}

function compareVersions(a: string, b: string): number {
  const [majorA = 0, minorA = 0] = a.split(".").map(Number);
  const [majorB = 0, minorB = 0] = b.split(".").map(Number);
  return majorA - majorB || minorA - minorB;
}

export class DockerEngine implements Engine {
  readonly kind = "docker";
  readonly #socketPath: string;
  readonly #clock: Clock;
  #connection: DockerConnection | undefined;
  #engineVersion = "";
  /** The last reading of each running container: what it uses now is the difference to it. */
  readonly #readings = new Map<string, Reading>();

  constructor(socketPath: string, clock: Clock) {
    this.#socketPath = socketPath;
    this.#clock = clock;
  }

  async version(): Promise<Result<string>> {
    const connection = await this.#connect();
    return connection.ok ? succeed(this.#engineVersion) : connection;
  }

  /** The folder and the driver with which the daemon keeps containers; undefined when it does not say. */
  async storage(): Promise<Storage | undefined> {
    const answer = read(await this.#call({ method: "GET", path: "/info" }), readStorage);
    return answer.ok ? answer.value : undefined;
  }

  async findImage(image: string): Promise<Result<ImageFacts | undefined>> {
    const found = await this.#call({ method: "GET", path: `/images/${encodePath(image)}/json` });
    if (!found.ok && found.failure.kind === "not_found") return succeed(undefined);
    return read(found, readImage);
  }

  async pull(request: PullRequest): Promise<Result<void>> {
    const connection = await this.#connect();
    return connection.ok ? pullImage(connection.value, request) : connection;
  }

  async create(spec: ContainerSpec): Promise<Result<string>> {
    const answer = await this.#call({
      method: "POST",
      path: "/containers/create",
      query: { name: spec.name },
      body: createBody(spec),
    });
    return read(answer, readCreatedId);
  }

  async start(id: string): Promise<Result<void>> {
    return done(await this.#call({ method: "POST", path: `/containers/${id}/start` }));
  }

  async stop(id: string, graceMs: number): Promise<Result<void>> {
    const query = { t: String(Math.max(0, Math.ceil(graceMs / 1000))) };
    return done(await this.#call({ method: "POST", path: `/containers/${id}/stop`, query }));
  }

  async signal(id: string, name: SignalName): Promise<Result<void>> {
    return done(await this.#call({ method: "POST", path: `/containers/${id}/kill`, query: { signal: name } }));
  }

  async remove(id: string): Promise<Result<void>> {
    const query = { force: "true", v: "true" };
    const removed = await this.#call({ method: "DELETE", path: `/containers/${id}`, query });
    this.#readings.delete(id);
    if (!removed.ok && removed.failure.kind === "not_found") return succeed(undefined);
    return done(removed);
  }

  async rename(id: string, name: string): Promise<Result<void>> {
    return done(await this.#call({ method: "POST", path: `/containers/${id}/rename`, query: { name } }));
  }

  async inspect(id: string): Promise<Result<Container>> {
    return read(await this.#call({ method: "GET", path: `/containers/${id}/json` }), readContainer);
  }

  async list(label: string, value: string): Promise<Result<readonly Container[]>> {
    const filters = JSON.stringify({ label: [`${label}=${value}`] });
    const query = { all: "true", filters };
    const ids = read(await this.#call({ method: "GET", path: "/containers/json", query }), readListedIds);
    if (!ids.ok) return ids;
    const containers: Container[] = [];
    for (const one of await Promise.all(ids.value.map((id) => this.inspect(id)))) {
      if (one.ok) containers.push(one.value);
      // A container that was removed between the two questions is left out.
      else if (one.failure.kind !== "not_found") return one;
    }
    return succeed(containers);
  }

  async usage(id: string): Promise<Result<Usage>> {
    const query = { stream: "false", "one-shot": "true" };
    const answer = await this.#call({ method: "GET", path: `/containers/${id}/stats`, query });
    const reading = answer.ok ? readStats(answer.value) : undefined;
    const before = this.#readings.get(id);
    if (reading) this.#readings.set(id, reading);
    else this.#readings.delete(id);
    if (!answer.ok) return answer;
    if (!reading) return fail("not_found", "no counters, the container does not run");
    const { traffic, memoryBytes } = reading;
    return succeed({ ...traffic, memoryBytes, cpuPercent: cpuPercent(before, reading) });
  }

  async exec(id: string, request: ExecRequest): Promise<Result<ExecOutput>> {
    const program = await this.open(id, request.argv);
    return program.ok ? collectOutput(program.value, request) : program;
  }

  async open(id: string, argv: readonly string[], as: ProgramUser = "root"): Promise<Result<Program>> {
    const connection = await this.#connect();
    if (!connection.ok) return connection;
    const context = {
      clock: this.#clock,
      call: (call: Call) => this.#call(call),
      hijack: (call: Call) => connection.value.hijack(call),
    };
    return openProgram(context, id, { argv, as });
  }

  async logs(id: string, request: LogRequest): Promise<Result<string>> {
    const connection = await this.#connect();
    return connection.ok ? readLogs(connection.value, id, request) : connection;
  }

  async followLogs(id: string, request: FollowRequest): Promise<Result<LogNotes>> {
    const connection = await this.#connect();
    return connection.ok ? followLogs(connection.value, id, request) : connection;
  }

  async commit(id: string, request: CommitRequest): Promise<Result<string>> {
    return commitContainer((call) => this.#call(call), id, request);
  }

  async tagImage(image: string, name: string): Promise<Result<void>> {
    const { repository: repo, tag } = parseImageReference(name);
    return done(await this.#call({ method: "POST", path: `/images/${encodePath(image)}/tag`, query: { repo, tag } }));
  }

  async push(request: PullRequest): Promise<Result<void>> {
    const connection = await this.#connect();
    return connection.ok ? pushImage(connection.value, request) : connection;
  }

  async provideNetwork(network: NetworkSpec): Promise<Result<NetworkAddress | null>> {
    return read(await provideNetwork((call) => this.#call(call), network), readNetworkAddress);
  }

  removeNetwork(name: string): Promise<Result<void>> {
    return removeNetwork((call) => this.#call(call), name);
  }

  async removeImage(image: string): Promise<Result<void>> {
    const removed = await this.#call({ method: "DELETE", path: `/images/${encodePath(image)}`, isSlow: true });
    if (!removed.ok && removed.failure.kind === "not_found") return succeed(undefined);
    return done(removed);
  }

  subscribe(label: string, value: string, listener: (event: EngineEvent) => void): () => void {
    return watchEvents({ connect: () => this.#connect(), clock: this.#clock, label, value, listener });
  }

  close(): void {
    this.#connection = undefined;
  }

  async #call(call: Call): Promise<Result<unknown>> {
    const connection = await this.#connect();
    if (!connection.ok) return connection;
    const answer = await connection.value.call(call);
    if (!answer.ok && answer.failure.kind === "unreachable") this.#connection = undefined;
    return answer;
  }

  async #connect(): Promise<Result<DockerConnection>> {
    if (this.#connection) return succeed(this.#connection);
    const answer = await connectDocker(this.#socketPath).call({ method: "GET", path: "/version" });
    const versions = read(answer, readVersion);
    if (!versions.ok) return versions;
    const { engine, api, oldestApi } = versions.value;
    this.#engineVersion = engine;
    this.#connection = connectDocker(this.#socketPath, `v${chooseApiVersion(api, oldestApi)}`);
    return succeed(this.#connection);
  }
}

function read<T>(answer: Result<unknown>, reader: (value: unknown) => T | undefined): Result<T> {
  if (!answer.ok) return answer;
  const value = reader(answer.value);
  return value === undefined ? fail("refused", "the engine's answer has an unknown form") : succeed(value);
}

function done(answer: Result<unknown>): Result<void> {
  return answer.ok ? succeed(undefined) : answer;
}

/** Processor use between two readings of one run; 0 for the first one. */
function cpuPercent(before: Reading | undefined, now: Reading): number {
  const elapsedMs = before ? now.readAtMs - before.readAtMs : 0;
  const usedNs = before ? now.cpuNs - before.cpuNs : 0;
  return elapsedMs <= 0 || usedNs < 0 ? 0 : (usedNs / NANOSECONDS_PER_MILLISECOND / elapsedMs) * 100;
}

/** Slashes of a repository stay, everything else that would end the path is encoded. */
function encodePath(image: string): string {
  return image.split("/").map(encodeURIComponent).join("/");
}
