import { Type, type Static } from "typebox";

/** A momentary value; null where nothing is known. */
const Reading = Type.Union([Type.Number({ minimum: 0 }), Type.Null()]);

/**
 * Use of a machine or an instance: percent of one processor (two busy ones are 200), bytes in use, and bytes a second
 * since the measurement before.
 */
const Use = {
  cpu_percent: Reading,
  memory_bytes: Reading,
  disk_bytes: Reading,
  received_bytes_per_s: Reading,
  sent_bytes_per_s: Reading,
};

const MeasuredGpu = Type.Object({
  uuid: Type.String({ minLength: 1, maxLength: 128 }),
  /** The index of the GPU in the inventory. */
  index: Type.Integer({ minimum: 0, maximum: 1023 }),
  utilization_percent: Reading,
  used_memory_mb: Reading,
  temperature_c: Reading,
  power_w: Reading,
});

const MeasuredInstance = Type.Object({
  instance_id: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
  ...Use,
});

/**
 * Use of a machine and of its running instances at the moment of sending. It names no time, since clocks of hosts may be
 * wrong. A lost one is a gap: agents send only the present.
 */
export const Measurements = Type.Object({
  kind: Type.Literal("measurements"),
  machine: Type.Object(Use),
  gpus: Type.Array(MeasuredGpu, { maxItems: 64 }),
  instances: Type.Array(MeasuredInstance, { maxItems: 4096 }),
});
export type Measurements = Static<typeof Measurements>;
