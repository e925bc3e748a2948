/**
 * The narrow interface to whatever runs containers. Everything the agent does goes through it, so the simulated
 * engine and the real one are exchangeable; `engine.contract.ts` says what both must do. Nothing here throws for a
 * failure of the engine: a failure is a value with a kind to branch on and the engine's own text to show.
 */

/**
 * `unreachable`: no answer, the engine may be down. `not_found`: no such container or image. `conflict`: the name is
 * taken or the container is busy. `denied`: the registry refused the credentials. `refused`: the engine answered no.
 * `cancelled`: the caller's own signal ended it.
 */
export type EngineFailureKind = "unreachable" | "not_found" | "conflict" | "denied" | "refused" | "cancelled";
export type EngineFailure = { readonly kind: EngineFailureKind; readonly message: string };
export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: EngineFailure };

export function succeed<T>(value: T): Result<T> {
  return { ok: true, value };
}

export function fail(
  kind: EngineFailureKind,
  message: string,
): { readonly ok: false; readonly failure: EngineFailure } {
  return { ok: false, failure: { kind, message } };
}

export type Protocol = "tcp" | "udp";
export type PortBinding = {
  readonly container_port: number;
  readonly protocol: Protocol;
  readonly host_port: number;
};

export type RegistryAuth = { readonly username: string; readonly password: string; readonly serveraddress: string };

/** What a container is made of. Null entrypoint and command keep those of the image. */
export type ContainerSpec = {
  readonly name: string;
  readonly image: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly env: readonly (readonly [string, string])[];
  readonly entrypoint: readonly string[] | null;
  readonly command: readonly string[] | null;
  /** Puts a small init before the process, which forwards signals and reaps children. */
  readonly has_init: boolean;
  readonly hostname: string | null;
  readonly bind_address: string;
  readonly ports: readonly PortBinding[];
  /** Devices to pass, by the vendor's identity; an empty list passes none. */
  readonly gpu_uuids: readonly string[];
  /** Zero means no limit, for this and the next two. */
  readonly cpu_millis: number;
  readonly memory_bytes: number;
  readonly disk_bytes: number;
};

export type ContainerPhase = "created" | "running" | "exited";
export type Container = {
  readonly id: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly phase: ContainerPhase;
  /** Known once a process has ended. */
  readonly exit_code: number | null;
  /** Epoch milliseconds by the engine's clock: of the last start and the last end; null before the first. */
  readonly started_at_ms: number | null;
  readonly finished_at_ms: number | null;
  /** The ports it was made with, published only while it runs. */
  readonly ports: readonly PortBinding[];
};

export type Traffic = { readonly received_bytes: number; readonly sent_bytes: number };
/** Bytes of all layers known so far; both grow while the registry is still telling. */
export type PullProgress = { readonly received_bytes: number; readonly total_bytes: number };
export type PullRequest = {
  readonly image: string;
  readonly auth: RegistryAuth | null;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: PullProgress) => void;
};

/** `container`: something happened to it. `resync`: events may have been missed, list everything again. */
export type EngineEvent = { readonly kind: "container"; readonly id: string } | { readonly kind: "resync" };

export type Engine = {
  readonly kind: "docker" | "simulated";
  version(): Promise<Result<string>>;
  hasImage(image: string): Promise<Result<boolean>>;
  pull(request: PullRequest): Promise<Result<void>>;
  /** Returns the id. A taken name is a `conflict`. */
  create(spec: ContainerSpec): Promise<Result<string>>;
  /** Starting a running container succeeds. */
  start(id: string): Promise<Result<void>>;
  /** Ends the process, by force after the grace; stopping a container that does not run succeeds. */
  stop(id: string, grace_ms: number): Promise<Result<void>>;
  /** Kills and deletes with its anonymous volumes; removing what does not exist succeeds. */
  remove(id: string): Promise<Result<void>>;
  rename(id: string, name: string): Promise<Result<void>>;
  inspect(id: string): Promise<Result<Container>>;
  /** All containers, in any phase, that carry the label. */
  list(label: string, value: string): Promise<Result<readonly Container[]>>;
  /** Bytes of the present run; only a running container has them, for others it is `not_found`. */
  traffic(id: string): Promise<Result<Traffic>>;
  /** Calls back for containers that carry the label until the returned function is called. */
  subscribe(label: string, value: string, listener: (event: EngineEvent) => void): () => void;
  close(): void;
};
