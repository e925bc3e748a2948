import { Type, type Static } from "typebox";

/** How the container's main process is made. `shell` replaces the image's entrypoint by the platform script. */
export const LaunchCommand = Type.Union([
  Type.Object({
    mode: Type.Literal("entrypoint"),
    /** Replaces the image's ENTRYPOINT when not null: run by `/bin/sh -c`. */
    entrypoint_shell: Type.Union([Type.String(), Type.Null()]),
    /** Replaces the image's CMD when not null. */
    args: Type.Union([Type.Array(Type.String()), Type.Null()]),
  }),
  Type.Object({
    mode: Type.Literal("shell"),
    /** Run at every start of the container, before it idles; null runs nothing. */
    onstart: Type.Union([Type.String(), Type.Null()]),
    /** A notebook server on port 8080 of the container, if the image has one; null starts none. */
    jupyter: Type.Union([
      Type.Object({
        token: Type.String(),
        /** The directory in which it starts; null is the image's working directory. */
        directory: Type.Union([Type.String(), Type.Null()]),
        is_lab: Type.Boolean(),
      }),
      Type.Null(),
    ]),
  }),
]);
export type LaunchCommand = Static<typeof LaunchCommand>;

export const PortRequest = Type.Object({
  /** Below 65536 a port inside the container; from 70000 an identity port: one random number, the same on both sides. */
  container_port: Type.Integer({ minimum: 1, maximum: 999_999 }),
  protocol: Type.Union([Type.Literal("tcp"), Type.Literal("udp")]),
});
export type PortRequest = Static<typeof PortRequest>;

/** The platform's own SSH server in front of the instance; keys are whole `authorized_keys` lines without options. */
const SshAccess = Type.Object({ authorized_keys: Type.Array(Type.String({ maxLength: 16_384 })) });

/**
 * The eviction notice of an instance that leaves for a higher claim. The agent tells the renter inside the container, and
 * stops it when the time is over or the renter's checkpoint is done. Once it is down it is not started again, unless a later
 * order has no notice.
 */
export const Notice = Type.Object({
  reason: Type.Union([Type.Literal("outbid"), Type.Literal("on_demand")]),
  /** Time from the making of the order. Of several orders for one generation the earliest end counts. */
  remaining_ms: Type.Integer({ minimum: 0, maximum: 86_400_000 }),
  message: Type.String({ maxLength: 1024 }),
});
export type Notice = Static<typeof Notice>;

/** The desired state of one instance. The agent compares it with the observed state and closes the difference. */
export const DesiredInstance = Type.Object({
  instance_id: Type.Integer({ minimum: 1 }),
  /** Grows with every start. A run belongs to exactly one generation; an order with a smaller one is stale. */
  generation: Type.Integer({ minimum: 0 }),
  /**
   * Grows when the container is to be made again from a freshly pulled image (recycle, another template): container and
   * disk of an older revision are removed first.
   */
  revision: Type.Integer({ minimum: 0 }),
  /** `absent` asks for a teardown receipt: a report that names the instance as absent. */
  run: Type.Union([Type.Literal("running"), Type.Literal("stopped"), Type.Literal("absent")]),
  /** Present only beside `running`; absent while the instance may stay. */
  notice: Type.Optional(Notice),
  /** Run by a shell inside the container when a notice comes; absent runs nothing. */
  checkpoint_command: Type.Optional(Type.String()),
  image: Type.String(),
  registry_auth: Type.Union([
    Type.Object({ username: Type.String(), password: Type.String(), serveraddress: Type.String() }),
    Type.Null(),
  ]),
  command: LaunchCommand,
  env: Type.Array(Type.Tuple([Type.String(), Type.String()])),
  ports: Type.Array(PortRequest),
  hostname: Type.Union([Type.String(), Type.Null()]),
  /** The user of the main process, as the engine reads it; null is the image's. */
  user: Type.Union([Type.String(), Type.Null()]),
  /** Null where the renter's image has to bring its own access. */
  ssh: Type.Union([SshAccess, Type.Null()]),
  /**
   * Keys of the user of copies (`COPY_USER`) where `ssh` is null; `ssh` lets that user in as well. Only tunnels lead there.
   * Agents of earlier versions ignore it, and report no host key for such an instance.
   */
  copies: Type.Optional(SshAccess),
  gpu_uuids: Type.Array(Type.String()),
  cpu_millis: Type.Integer({ minimum: 0 }),
  memory_bytes: Type.Integer({ minimum: 0 }),
  disk_bytes: Type.Integer({ minimum: 0 }),
  mounts: Type.Array(
    Type.Object({ volume_id: Type.Integer(), mount_path: Type.String(), size_bytes: Type.Integer({ minimum: 0 }) }),
  ),
});
export type DesiredInstance = Static<typeof DesiredInstance>;

/** Rented space on this host, with or without an instance that mounts it. */
export const DesiredVolume = Type.Object({
  volume_id: Type.Integer({ minimum: 1 }),
  size_bytes: Type.Integer({ minimum: 0 }),
  /** The mount point of the network disk that it is a part of; null is the host's own disk. */
  network_directory: Type.Union([Type.String(), Type.Null()]),
  /** `absent` asks for a receipt, as for instances: the data is gone for good. */
  state: Type.Union([Type.Literal("present"), Type.Literal("absent")]),
});
export type DesiredVolume = Static<typeof DesiredVolume>;
