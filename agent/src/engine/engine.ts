import type { Readable, Writable } from "node:stream";
import type { LogNote } from "../wire/messages.ts";
import type { LogPlace } from "./log-places.ts";

/**
 * The narrow interface to the program that runs containers. Everything the agent does goes through it, so the simulated
 * engine and the real one are exchangeable; `engine.contract.ts` says what both must do. Nothing here throws for a
 * failure of the engine: a failure is a value with a kind to branch on and the engine's own text to show.
 */

/**
 * `unreachable`: no answer, the engine may be down. `not_found`: no such container or image. `conflict`: the name is
 * taken or the container is busy. `denied`: the registry refused the credentials. `refused`: the engine answered no.
 * `cancelled`: the caller's own signal ended it.
 */
export type EngineFailureKind = "unreachable" | "not_found" | "conflict" | "denied" | "refused" | "cancelled";
/** `host`: no start of anybody would work here now. `image`: this order's image or settings work nowhere. */
export type Fault = "host" | "image";
export type EngineFailure = {
  readonly kind: EngineFailureKind;
  readonly message: string;
  /** Absent where it could be either. */
  readonly fault?: Fault;
};
export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: EngineFailure };

export function succeed<T>(value: T): Result<T> {
  return { ok: true, value };
}

export type Failed = { readonly ok: false; readonly failure: EngineFailure };

export function fail(kind: EngineFailureKind, message: string, fault?: Fault): Failed {
  return { ok: false, failure: { kind, message, ...(fault ? { fault } : {}) } };
}

export type Protocol = "tcp" | "udp";
export type PortBinding = {
  readonly containerPort: number;
  readonly protocol: Protocol;
  readonly hostPort: number;
};

export type RegistryAuth = { readonly username: string; readonly password: string; readonly serveraddress: string };

export type Mount = { readonly source: string; readonly target: string; readonly isReadOnly: boolean };

/** Everything that a container is made with. Null entrypoint and command keep those of the image. */
export type ContainerSpec = {
  readonly name: string;
  readonly image: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly env: readonly (readonly [string, string])[];
  readonly entrypoint: readonly string[] | null;
  readonly command: readonly string[] | null;
  /** Puts a small init before the process, which forwards signals and reaps children. */
  readonly hasInit: boolean;
  readonly hostname: string | null;
  /** The user of the main process; null is the image's. */
  readonly user: string | null;
  /** The network to join; null is the engine's default one. */
  readonly network: string | null;
  /** Folders of the host shown inside. */
  readonly mounts: readonly Mount[];
  /** Paths of the image's own volumes, each kept in the folder of the host and filled from the image at first. */
  readonly imageVolumes: readonly { readonly directory: string; readonly target: string }[];
  readonly bindAddress: string;
  readonly ports: readonly PortBinding[];
  /** Devices to pass, by the vendor's identity; an empty list passes none. */
  readonly gpuUuids: readonly string[];
  /** Zero means no limit, for this and the next. */
  readonly cpuMillis: number;
  readonly memoryBytes: number;
};

export type ContainerPhase = "created" | "running" | "exited";
export type Container = {
  readonly id: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly phase: ContainerPhase;
  /** Known once a process has ended. */
  readonly exitCode: number | null;
  /** Epoch milliseconds by the engine's clock: of the last start and the last end; null before the first. */
  readonly startedAtMs: number | null;
  readonly finishedAtMs: number | null;
  /** The ports it was made with, published only while it runs. */
  readonly ports: readonly PortBinding[];
  /** Its address in its network, and the host's path of its network namespace; null while it does not run. */
  readonly network: { readonly ipAddress: string; readonly namespacePath: string } | null;
  /**
   * The folder that holds what the container writes and the engine's notes on it, where the engine keeps each container
   * in a folder of its own (overlay2); null elsewhere.
   */
  readonly layerDirectory: string | null;
};

/** Settings of an image. Volume paths are absolute; ports are those that it declares. */
export type ImageFacts = {
  readonly id: string;
  /** Repositories of registries in which the engine has seen it; null of an engine that has no registries. */
  readonly repositories: readonly string[] | null;
  readonly volumes: readonly string[];
  readonly exposedPorts: readonly { readonly containerPort: number; readonly protocol: Protocol }[];
};

/** Bytes since the container's last start. */
export type Traffic = { readonly receivedBytes: number; readonly sentBytes: number };
/** Use of a running container: percent of one processor (two busy ones are 200), and bytes of memory. */
export type Usage = Traffic & { readonly cpuPercent: number; readonly memoryBytes: number };
export type SignalName = "SIGTERM" | "SIGUSR1";
export type ProgramUser = "root" | "renter";
export type ExecRequest = {
  readonly argv: readonly string[];
  readonly signal: AbortSignal;
  /** More output than this is cut off, and the program with it. */
  readonly outputLimitBytes: number;
};
/**
 * A program that runs. Output waits until it is read, both streams of it; `ended` comes after the output and settles
 * by itself. Killing one that is over does nothing.
 */
export type Program = {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The exit code; 137 for a killed one. */
  readonly ended: Promise<Result<number>>;
  kill(): void;
};
export type ExecOutput = { readonly exitCode: number; readonly stdout: Buffer; readonly stderr: Buffer };
export type LogRequest = {
  readonly tailLines: number;
  /** Text that the lines must contain; empty for all lines. */
  readonly filter: string;
  /** The newest bytes are kept. */
  readonly limitBytes: number;
};
export type FollowRequest = {
  readonly tailLines: number;
  /** Only what comes behind this place, in place of the last lines. */
  readonly after: LogPlace | undefined;
  /** False for an end after what is there now. */
  readonly follows: boolean;
  readonly signal: AbortSignal;
};
/** Pieces of a log, as many at once as there are; the last one is an `end`. */
export type LogNotes = AsyncGenerator<readonly LogNote[], void>;
/** `bridge` is the name of the interface on the host. */
export type NetworkSpec = { readonly name: string; readonly bridge: string };
/** The host's address on a network, and the network's range, such as `172.18.0.0/16`. */
export type NetworkAddress = { readonly gateway: string; readonly subnet: string };
export type CommitRequest = { readonly repository: string; readonly tag: string; readonly isPaused: boolean };
/** Bytes of all layers known so far; both grow while the registry is still telling. */
export type PullProgress = { readonly receivedBytes: number; readonly totalBytes: number };
export type PullRequest = {
  readonly image: string;
  readonly auth: RegistryAuth | null;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: PullProgress) => void;
};

/**
 * `container`: it has changed. `lost`: no more events come, perhaps because the engine stops. `resync`: events may have
 * been missed, list everything again.
 */
export type EngineEvent = { readonly kind: "container"; readonly id: string } | { readonly kind: "lost" | "resync" };

export type Engine = {
  readonly kind: "docker" | "simulated";
  version(): Promise<Result<string>>;
  /** Facts of an image; undefined when it is not on this host. */
  findImage(image: string): Promise<Result<ImageFacts | undefined>>;
  pull(request: PullRequest): Promise<Result<void>>;
  /** Returns the id. A taken name is a `conflict`. */
  create(spec: ContainerSpec): Promise<Result<string>>;
  /** Starting a running container succeeds. */
  start(id: string): Promise<Result<void>>;
  /** Ends the process, by force after the grace; stopping a container that does not run succeeds. */
  stop(id: string, graceMs: number): Promise<Result<void>>;
  /** Sends the main process a signal; a `conflict` when it does not run. */
  signal(id: string, name: SignalName): Promise<Result<void>>;
  /** Kills and deletes with its anonymous volumes; removing what does not exist succeeds. */
  remove(id: string): Promise<Result<void>>;
  rename(id: string, name: string): Promise<Result<void>>;
  inspect(id: string): Promise<Result<Container>>;
  /** All containers, in any phase, that carry the label. */
  list(label: string, value: string): Promise<Result<readonly Container[]>>;
  /** Use of a running container; `not_found` for any other. */
  usage(id: string): Promise<Result<Usage>>;
  /** Runs a program beside the main process, as root, and waits for its end. Only in a running container. */
  exec(id: string, request: ExecRequest): Promise<Result<ExecOutput>>;
  /**
   * Runs a program whose data need not fit into memory. As `renter` it runs as the container's own user, where that
   * starts.
   */
  open(id: string, argv: readonly string[], as?: ProgramUser): Promise<Result<Program>>;
  /** Output of the main process, both streams in order, of this and earlier runs. */
  logs(id: string, request: LogRequest): Promise<Result<string>>;
  /**
   * The same as it comes, in the order in which it was written; ends when the container does not run. Reading throws when
   * the engine breaks off, and after the signal.
   */
  followLogs(id: string, request: FollowRequest): Promise<Result<LogNotes>>;
  /** Makes an image of the container as it is, on this host; the image's id. */
  commit(id: string, request: CommitRequest): Promise<Result<string>>;
  /** Gives an image of this host one more name; another image that has it loses it. */
  tagImage(image: string, name: string): Promise<Result<void>>;
  push(request: PullRequest): Promise<Result<void>>;
  /** Forgets a name of an image, and its data when nothing else needs it; an unknown one succeeds. */
  removeImage(image: string): Promise<Result<void>>;
  /** A bridge network whose containers do not see each other, made unless it is there; null where nothing is on it. */
  provideNetwork(network: NetworkSpec): Promise<Result<NetworkAddress | null>>;
  /** Removes a network; succeeds also when there is none. */
  removeNetwork(name: string): Promise<Result<void>>;
  /** Calls back for containers that carry the label until the returned function is called. */
  subscribe(label: string, value: string, listener: (event: EngineEvent) => void): () => void;
  close(): void;
};
