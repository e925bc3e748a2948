import type { Measurements } from "../../../protocol/index.ts";
import type { FakeHost } from "./fake-host.ts";

type Use = Measurements["machine"];
type Gpu = Measurements["gpus"][number];

/** Use of which nothing is known but what is given. */
function aUse(given: Partial<Use> = {}): Use {
  const unknown = { cpu_percent: null, memory_bytes: null, disk_bytes: null };
  return { ...unknown, received_bytes_per_s: null, sent_bytes_per_s: null, ...given };
}

/** The message of a host that measures its machine and these instances. */
export function aMeasurement(
  host: FakeHost,
  { machine = {}, gpus = [], instances = {} }: MeasuredOptions = {},
): Measurements {
  return {
    kind: "measurements",
    machine: aUse(machine),
    gpus: host.gpus.map(({ uuid, index }) => ({
      ...{ uuid, index, utilization_percent: null, used_memory_mb: null, temperature_c: null, power_w: null },
      ...gpus[index],
    })),
    instances: Object.entries(instances).map(([id, use]) => ({ instance_id: Number(id), ...aUse(use) })),
  };
}

type MeasuredOptions = {
  readonly machine?: Partial<Use>;
  /** Readings by the index of the GPU. */
  readonly gpus?: readonly Partial<Gpu>[];
  /** Use by the id of the instance. */
  readonly instances?: Readonly<Record<number, Partial<Use>>>;
};

/** Sends a message that gets no answer, and waits until the server has taken it. */
export async function tell(host: FakeHost, message: Measurements | string): Promise<void> {
  host.sendText(typeof message === "string" ? message : JSON.stringify(message));
  await host.read();
}
