import type { Clock } from "../base/clock.ts";
import type { GpuFacts, GpuHealth, Measurements } from "../wire/messages.ts";

/** One running instance with its last readings. Counters grow within its generation. */
export type MeasuredInstance = {
  readonly instanceId: number;
  readonly generation: number;
  readonly gpuUuids: readonly string[];
  readonly startedAtMs: number;
  readonly cpuPercent: number;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  readonly receivedBytes: number;
  readonly sentBytes: number;
};

/** Use of the whole machine. Processor time and traffic count since its boot; null where the system does not tell. */
export type MachineUse = {
  readonly busyMs: number | null;
  readonly memoryBytes: number | null;
  readonly diskBytes: number | null;
  readonly receivedBytes: number | null;
  readonly sentBytes: number | null;
};

export type GpuUse = Pick<GpuHealth, "uuid" | "utilizationPercent" | "temperatureC" | "usedMemoryMb" | "powerW">;

export type MeasurerInput = {
  readonly clock: Clock;
  readonly gpus: () => readonly GpuFacts[];
  /** Running instances, read just now; undefined while the engine gives no answer. */
  readonly readInstances: () => Promise<readonly MeasuredInstance[] | undefined>;
  readonly readMachine: (instances: readonly MeasuredInstance[]) => Promise<MachineUse>;
  readonly readGpus: (instances: readonly MeasuredInstance[]) => readonly GpuUse[];
};

type Counted = { readonly name: string; readonly value: number; readonly atMs: number };

/** Reads what a host and its instances use. Rates are differences from the measurement before, so the first has none. */
export class Measurer {
  readonly #input: MeasurerInput;
  #before = new Map<string, Counted>();

  constructor(input: MeasurerInput) {
    this.#input = input;
  }

  /** The present readings; undefined while the engine is silent, since old readings would pass for new ones. */
  async take(): Promise<Measurements | undefined> {
    const { clock, readInstances, readMachine, readGpus, gpus } = this.#input;
    const instances = await readInstances();
    if (instances === undefined) return undefined;
    const machine = await readMachine(instances);
    const nowMs = clock.monotonicMs();
    const counted = new Map<string, Counted>();
    const rateOf = (name: string, value: number | null) => this.#rate(counted, { name, value, nowMs });
    const uses = new Map(readGpus(instances).map((gpu) => [gpu.uuid, gpu]));
    const busyMsPerS = rateOf("machine busy", machine.busyMs);
    const measurements: Measurements = {
      kind: "measurements",
      machine: {
        // A processor that is busy all the time is busy for 1,000 ms in each second.
        cpuPercent: busyMsPerS === null ? null : busyMsPerS / 10,
        memoryBytes: machine.memoryBytes,
        diskBytes: machine.diskBytes,
        receivedBytesPerS: rateOf("machine received", machine.receivedBytes),
        sentBytesPerS: rateOf("machine sent", machine.sentBytes),
      },
      gpus: gpus().map((gpu) => gpuOf(gpu, uses.get(gpu.uuid))),
      instances: instances.map((one) => {
        const run = `${one.instanceId}:${one.generation}`;
        const { instanceId, cpuPercent, memoryBytes, diskBytes } = one;
        return {
          ...{ instanceId, cpuPercent, memoryBytes, diskBytes },
          receivedBytesPerS: rateOf(`${run} received`, one.receivedBytes),
          sentBytesPerS: rateOf(`${run} sent`, one.sentBytes),
        };
      }),
    };
    this.#before = counted;
    return measurements;
  }

  #rate(
    counted: Map<string, Counted>,
    { name, value, nowMs }: { readonly name: string; readonly value: number | null; readonly nowMs: number },
  ): number | null {
    if (value === null) return null;
    counted.set(name, { name, value, atMs: nowMs });
    const before = this.#before.get(name);
    // A counter that went back began again, and says nothing about the time before.
    if (before === undefined || nowMs <= before.atMs || value < before.value) return null;
    return ((value - before.value) * 1000) / (nowMs - before.atMs);
  }
}

function gpuOf({ uuid, index }: GpuFacts, use: GpuUse | undefined): Measurements["gpus"][number] {
  return {
    uuid,
    index,
    utilizationPercent: known(use?.utilizationPercent),
    usedMemoryMb: known(use?.usedMemoryMb),
    temperatureC: known(use?.temperatureC),
    powerW: known(use?.powerW),
  };
}

/** A value that the protocol can carry: a board below the freezing point counts as one at it. */
function known(value: number | null | undefined): number | null {
  return value === null || value === undefined || !Number.isFinite(value) ? null : Math.max(0, value);
}
