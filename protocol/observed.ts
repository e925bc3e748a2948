import { Type, type Static } from "typebox";

/**
 * The state of one instance as the agent sees it. `absent` is the teardown receipt of the generation it names: nothing
 * of the instance is left on the host. `failed` means that the last attempt failed and another follows; `status_msg`
 * says why.
 */
const ObservedState = Type.Union([
  Type.Literal("absent"),
  Type.Literal("pulling"),
  Type.Literal("created"),
  Type.Literal("starting"),
  Type.Literal("running"),
  Type.Literal("stopping"),
  Type.Literal("stopped"),
  Type.Literal("exited"),
  Type.Literal("failed"),
]);
export type ObservedState = Static<typeof ObservedState>;

export const ObservedInstance = Type.Object({
  instance_id: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
  generation: Type.Integer({ minimum: 0, maximum: 2_147_483_647 }),
  state: ObservedState,
  status_msg: Type.String({ maxLength: 4096 }),
  /** Beside `failed`, where it is known: whether another renter's start would fail here as well, or only this image. */
  fault: Type.Optional(Type.Union([Type.Literal("host"), Type.Literal("image")])),
  /** `"8080/tcp": 33526`, only while running. */
  ports: Type.Record(Type.String(), Type.Integer({ minimum: 1, maximum: 65535 })),
  exit_code: Type.Union([Type.Integer(), Type.Null()]),
  /** Public key of the SSH server in front of it, as in `known_hosts` without the name; null where there is none. */
  ssh_host_key: Type.Union([Type.String({ maxLength: 1024 }), Type.Null()]),
  /** A momentary reading; null while nothing runs, and where the engine does not tell. */
  usage: Type.Union([
    Type.Object({
      cpu_percent: Type.Number({ minimum: 0 }),
      memory_bytes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
      disk_bytes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
      /** Its own address in the network of its machine; absent where it has none. */
      ip_address: Type.Optional(Type.String({ maxLength: 64, pattern: "^[0-9a-fA-F.:]*$" })),
    }),
    Type.Null(),
  ]),
  /** Beside `pulling`, once the size of the image is known: how far its pull has come. */
  pull: Type.Optional(
    Type.Object({
      done_bytes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
      total_bytes: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
      /** Averaged over the pull so far. */
      bytes_per_second: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    }),
  ),
  /** Cumulative within the generation; they never go back. */
  counters: Type.Object({
    running_ms: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    received_bytes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    sent_bytes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  }),
});
export type ObservedInstance = Static<typeof ObservedInstance>;

export const GpuHealth = Type.Object({
  uuid: Type.String({ minLength: 1, maxLength: 128 }),
  is_healthy: Type.Boolean(),
  reason: Type.String({ maxLength: 1024 }),
  utilization_percent: Type.Union([Type.Number({ minimum: 0, maximum: 100 }), Type.Null()]),
  temperature_c: Type.Union([Type.Number(), Type.Null()]),
  /** Memory that programs use now, in MB; absent where it is not known. */
  used_memory_mb: Type.Optional(Type.Number({ minimum: 0 })),
  /** Power that the board draws now, in watts; absent where it is not known. */
  power_w: Type.Optional(Type.Number({ minimum: 0 })),
});
export type GpuHealth = Static<typeof GpuHealth>;

/** `absent` is the receipt: no byte of the volume is left. `failed` says why in `message`; the agent tries again. */
export const ObservedVolume = Type.Object({
  volume_id: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
  state: Type.Union([Type.Literal("present"), Type.Literal("absent"), Type.Literal("failed")]),
  used_bytes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  message: Type.String({ maxLength: 1024 }),
});
export type ObservedVolume = Static<typeof ObservedVolume>;
