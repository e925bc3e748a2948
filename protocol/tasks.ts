import { Type, type Static } from "typebox";
import { LogWish } from "./log-notes.ts";

const Place = Type.Object({
  kind: Type.Union([Type.Literal("instance"), Type.Literal("volume")]),
  id: Type.Integer({ minimum: 1 }),
  /** Absolute within the instance, from the root of a volume; a trailing slash means the contents. */
  path: Type.String({ maxLength: 4096 }),
});
export type Place = Static<typeof Place>;

/**
 * Says which two tasks belong together; each of the two hosts may use it for its own half, until the tasks are over. The
 * other half of a backup is the control plane's.
 */
const TransferId = Type.String({ minLength: 1, maxLength: 64 });

/** Options that a cloud copy may have; all others would let a renter choose what the copying program does on the host. */
const CloudCopyFlag = Type.Union([
  Type.Literal("--dry-run"),
  Type.Literal("--size-only"),
  Type.Literal("--ignore-existing"),
  Type.Literal("--update"),
  Type.Literal("--delete-excluded"),
]);
export const CLOUD_COPY_FLAGS: readonly Static<typeof CloudCopyFlag>[] = CloudCopyFlag.anyOf.map((flag) => flag.const);

/** One line of visible characters: it becomes a line of the copying program's environment. */
const CloudKey = Type.String({ pattern: "^[!-~]{1,256}$" });

const CloudSettings = Type.Union([
  Type.Object({
    provider: Type.Literal("s3"),
    access_key: CloudKey,
    secret_access_key: CloudKey,
    /** Absent for the storage of AWS. */
    endpoint: Type.Optional(Type.String({ pattern: "^https://[!-~]{1,256}$" })),
    region: Type.Optional(Type.String({ pattern: "^[a-z0-9-]{1,64}$" })),
  }),
  Type.Object({ provider: Type.Literal("b2"), key_id: CloudKey, application_key: CloudKey }),
  Type.Object({
    provider: Type.Literal("hf"),
    access_key: CloudKey,
    secret_access_key: CloudKey,
    namespace: Type.String({ pattern: "^[A-Za-z0-9._-]{1,128}$" }),
  }),
]);

/** Something asked of a host once, beside the desired set. Doing it twice is harmless: it may be sent again. */
export const TaskAction = Type.Union([
  Type.Object({
    type: Type.Literal("logs"),
    instance_id: Type.Integer({ minimum: 1 }),
    tail_lines: Type.Integer({ minimum: 0 }),
    /** Text that the lines must contain; empty for all lines. */
    filter: Type.String({ maxLength: 1024 }),
    /** The agent's own lines on the instance, not the container's. */
    is_agent_log: Type.Boolean(),
  }),
  /** `ls`, `rm` or `du` with arguments, run in the instance's own file system without a shell. */
  Type.Object({
    type: Type.Literal("execute"),
    instance_id: Type.Integer({ minimum: 1 }),
    argv: Type.Array(Type.String(), { minItems: 1, maxItems: 256 }),
  }),
  Type.Object({
    type: Type.Literal("copy"),
    source: Place,
    destination: Place,
    /** The destination is a volume that was made for this: files in it come from an earlier attempt. */
    is_fresh: Type.Optional(Type.Boolean()),
  }),
  /** Half of a copy to another host, which is asked to `receive` under the same transfer id. */
  Type.Object({
    type: Type.Literal("send"),
    transfer_id: TransferId,
    source: Place,
    destination: Place,
    is_compressed: Type.Boolean(),
  }),
  /** The receiving half of a copy to another host. */
  Type.Object({
    type: Type.Literal("receive"),
    transfer_id: TransferId,
    source: Place,
    destination: Place,
    is_compressed: Type.Boolean(),
    is_fresh: Type.Boolean(),
  }),
  /**
   * Sends the control plane a backup, compressed by gzip: the files of an instance's own layer below `upper/`, or all
   * files of a volume. Only agents whose hello says `makes_backups` are asked.
   */
  Type.Object({
    type: Type.Literal("back_up"),
    transfer_id: TransferId,
    source: Place,
  }),
  /**
   * Copies between a place of this host and a cloud storage, with the renter's own keys. Only agents whose hello says
   * `copies_to_clouds` are asked.
   */
  Type.Object({
    type: Type.Literal("cloud_copy"),
    place: Place,
    /** True from the place to the storage. */
    is_upload: Type.Boolean(),
    /** The connection as its owner names it, such as `s3.3`. */
    connection: Type.String({ maxLength: 32 }),
    /** Bucket and path, without a slash at the beginning. */
    cloud_path: Type.String({ minLength: 1, maxLength: 1024 }),
    flags: Type.Array(CloudCopyFlag, { maxItems: 5 }),
    /** Null where the keys can no longer be read, and in the server's own rows, which keep them encrypted. */
    settings: Type.Union([CloudSettings, Type.Null()]),
  }),
  /** Commits the container and pushes it to a registry of the renter. */
  Type.Object({
    type: Type.Literal("snapshot"),
    instance_id: Type.Integer({ minimum: 1 }),
    repository: Type.String(),
    tag: Type.String(),
    registry_auth: Type.Union([
      Type.Object({ username: Type.String(), password: Type.String(), serveraddress: Type.String() }),
      Type.Null(),
    ]),
    is_paused: Type.Boolean(),
  }),
]);
export type TaskAction = Static<typeof TaskAction>;

const TaskId = Type.String({ minLength: 1, maxLength: 64 });

/** Down. The same id again is the same task; one that is under way or just done is not begun again. */
export const Task = Type.Object({ kind: Type.Literal("task"), task_id: TaskId, action: TaskAction });
export type Task = Static<typeof Task>;

/** Down. Ends a task early; one that is not known is over already. */
export const CancelTask = Type.Object({ kind: Type.Literal("cancel_task"), task_id: TaskId });

/** Up. How far a task has come, for a person. */
export const TaskProgress = Type.Object({
  kind: Type.Literal("task_progress"),
  task_id: TaskId,
  text: Type.String({ maxLength: 1024 }),
  /** Bytes of a copy that are done. */
  copied_bytes: Type.Optional(Type.Integer({ minimum: 0 })),
});
export type TaskProgress = Static<typeof TaskProgress>;

/** Up. The end of a task: its output, or one sentence on why there is none. */
export const TaskResult = Type.Object({
  kind: Type.Literal("task_result"),
  task_id: TaskId,
  is_success: Type.Boolean(),
  text: Type.String({ maxLength: 1_048_576 }),
});
export type TaskResult = Static<typeof TaskResult>;

/** Length in bytes of the message that ends the bytes towards the agent; messages before it are longer. */
export const UPLINK_MARK_BYTES = 32;

/** Length in bytes of the message that is a puzzle; no other message of the service `line` is that long. */
export const CPU_PUZZLE_BYTES = 48;

/**
 * The puzzle: `state = scrypt(state, puzzle)` so many times, from the puzzle as first state. `cost` and `blockSize` are N
 * and r of scrypt, with p 1: a round takes 32 MiB of memory.
 */
export const CPU_PUZZLE = { rounds: 8, cost: 32_768, blockSize: 8, resultBytes: 32 } as const;

/**
 * Down. A client waits at the control plane for a byte stream into the instance: the agent opens a WebSocket to
 * `/agent/tunnel/<tunnel_id>` with its own credential and connects it to the service. The stream travels in binary
 * messages; an empty one says that nothing more comes in its direction.
 *
 * The service `line` belongs to no instance: the control plane measures the uplink with it, and asks only agents whose hello
 * says `measures_line`. The agent discards all messages until a message of `UPLINK_MARK_BYTES`, repeats that one, and sends
 * random bytes until the control plane closes the tunnel. A message of `CPU_PUZZLE_BYTES` that comes first is a puzzle, by
 * which the control plane measures the processor: the agent answers with its solution and nothing else. Agents of earlier
 * versions discard it.
 *
 * The service `logs` sends the log of the instance's container up (`LogNote`); only agents whose machine says `follows_logs`
 * are asked. What the control plane sends on it means nothing.
 *
 * The service `port` leads to a TCP port of the instance's container; only agents whose machine says `opens_ports` are asked.
 */
export const OpenTunnel = Type.Object({
  kind: Type.Literal("open_tunnel"),
  tunnel_id: Type.String({ minLength: 1, maxLength: 64 }),
  /** 0 for the service `line`. */
  instance_id: Type.Integer({ minimum: 0 }),
  service: Type.Union([
    Type.Literal("ssh"),
    Type.Literal("jupyter"),
    Type.Literal("line"),
    Type.Literal("logs"),
    Type.Literal("port"),
  ]),
  /**
   * Beside `ssh`: a public key that logs in as `root` through this tunnel alone, for a terminal or files in a browser.
   * Agents of earlier versions refuse it as they refuse any key that the instance does not have.
   */
  session_key: Type.Optional(Type.String({ maxLength: 256 })),
  /** Beside `port`: its number in the container. */
  port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })),
  /** Beside `logs`: which part; without it the newest 1,000 lines and what follows. */
  logs: Type.Optional(LogWish),
});
export type OpenTunnel = Static<typeof OpenTunnel>;
