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
    has_jupyter: Type.Boolean(),
  }),
]);
export type LaunchCommand = Static<typeof LaunchCommand>;

export const PortRequest = Type.Object({
  /** Below 65536 a port inside the container; from 70000 an identity port: one random number, the same on both sides. */
  container_port: Type.Integer({ minimum: 1, maximum: 99999 }),
  protocol: Type.Union([Type.Literal("tcp"), Type.Literal("udp")]),
});
export type PortRequest = Static<typeof PortRequest>;

/** What one instance should be on the host. The agent compares it with what it observes and closes the difference. */
export const DesiredInstance = Type.Object({
  instance_id: Type.Integer({ minimum: 1 }),
  /** Grows with every start. A run belongs to exactly one generation; an order with a smaller one is stale. */
  generation: Type.Integer({ minimum: 0 }),
  /** `absent` asks for a teardown receipt: a report that names the instance as absent. */
  run: Type.Union([Type.Literal("running"), Type.Literal("stopped"), Type.Literal("absent")]),
  image: Type.String(),
  registry_auth: Type.Union([
    Type.Object({ username: Type.String(), password: Type.String(), serveraddress: Type.String() }),
    Type.Null(),
  ]),
  command: LaunchCommand,
  env: Type.Array(Type.Tuple([Type.String(), Type.String()])),
  ports: Type.Array(PortRequest),
  hostname: Type.Union([Type.String(), Type.Null()]),
  gpu_uuids: Type.Array(Type.String()),
  cpu_millis: Type.Integer({ minimum: 0 }),
  memory_bytes: Type.Integer({ minimum: 0 }),
  disk_bytes: Type.Integer({ minimum: 0 }),
  mounts: Type.Array(
    Type.Object({ volume_id: Type.Integer(), mount_path: Type.String(), size_bytes: Type.Integer({ minimum: 0 }) }),
  ),
});
export type DesiredInstance = Static<typeof DesiredInstance>;
