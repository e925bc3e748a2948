import { seededRandom } from "../base/random.ts";
import type { GpuUse, MachineUse, MeasuredInstance } from "../measurements/measurer.ts";
import type { GpuFacts } from "../wire/messages.ts";

const IDLE_TEMPERATURE_C = 33;
const IDLE_POWER_SHARE = 0.08;
const CPU_IDLE_PERCENT = 3;
const SYSTEM_MEMORY_BYTES = 2.5e9;
const SYSTEM_DISK_BYTES = 60e9;
/** One in so many instances waits for work. */
const IDLE_ONE_IN = 5;
const WARM_UP_MS = 90_000;
/** A program that trains saves its work now and then, and its GPUs rest meanwhile. */
const SAVE_EVERY_MS = 900_000;
const SAVE_MS = 45_000;

/** The invented load of one instance: the same seed and time give the same load, so that a graph has one shape. */
export type SimulatedLoad = {
  /** Share of the time that its GPUs work. */
  readonly gpuShare: number;
  readonly gpuMemoryShare: number;
  /** Percent of one processor. */
  readonly cpuPercent: number;
  readonly memoryBytes: number;
};

/** The load of a container `ageMs` after its start. */
export function simulatedLoad(seed: string, ageMs: number): SimulatedLoad {
  const random = seededRandom(seed);
  const isIdle = Math.floor(random() * IDLE_ONE_IN) === 0;
  const [level, memory, phase, swing] = [random(), random(), random(), random()];
  const warm = Math.min(1, Math.max(0, ageMs) / WARM_UP_MS);
  const wave = (periodMs: number, shift: number) => Math.sin(2 * Math.PI * (ageMs / periodMs + shift));
  const isSaving = (ageMs + phase * SAVE_EVERY_MS) % SAVE_EVERY_MS < SAVE_MS;
  const working = 0.62 + 0.3 * level + 0.05 * wave(310_000, phase) + 0.03 * wave(47_000, swing);
  const gpuShare = isIdle ? 0.01 + 0.01 * wave(600_000, phase) : warm * (isSaving ? 0.08 : Math.min(1, working));
  const cpu = isIdle ? 4 : 60 + 240 * level + 40 * wave(173_000, swing) + (isSaving ? 90 : 0);
  return {
    gpuShare: Math.max(0, gpuShare),
    gpuMemoryShare: isIdle ? 0.02 : 0.05 + warm * (0.4 + 0.5 * memory),
    cpuPercent: Math.max(0.5, cpu),
    memoryBytes: Math.round((isIdle ? 0.3e9 : 2e9 + 14e9 * memory * warm) * (1 + 0.02 * wave(700_000, swing))),
  };
}

/** GPUs of a simulated machine: those of running instances work, the others rest. */
export function simulatedGpus(
  gpus: readonly GpuFacts[],
  instances: readonly MeasuredInstance[],
  nowMs: number,
): readonly GpuUse[] {
  const owners = new Map(instances.flatMap((one) => one.gpuUuids.map((uuid) => [uuid, one] as const)));
  return gpus.map((gpu) => {
    const owner = owners.get(gpu.uuid);
    const load = owner && simulatedLoad(seedOf(owner), nowMs - owner.startedAtMs);
    // Boards of one machine differ a little.
    const share = (load?.gpuShare ?? 0) * (1 - 0.015 * (gpu.index % 4));
    const limit = (gpu.maxTempC ?? 90) - IDLE_TEMPERATURE_C - 8;
    return {
      uuid: gpu.uuid,
      utilizationPercent: Math.round(100 * share),
      usedMemoryMb: Math.round(gpu.memoryMb * (load?.gpuMemoryShare ?? 0)),
      temperatureC: Math.round(IDLE_TEMPERATURE_C + (gpu.index % 3) + limit * share * 0.8),
      powerW: Math.round(gpu.maxPowerW * (IDLE_POWER_SHARE + 0.85 * share)),
    };
  });
}

/** The name of an instance for its load, which engine and GPUs of a simulated host share. */
export function seedOf({ instanceId }: Pick<MeasuredInstance, "instanceId">): string {
  return `load of instance ${instanceId}`;
}

/** A simulated machine uses what its instances use and a little for itself. */
export class SimulatedMachine {
  #busyMs = 0;
  #lastMs: number | undefined;
  #received = 0;
  #sent = 0;
  readonly #seen = new Map<string, { readonly received: number; readonly sent: number }>();

  read(instances: readonly MeasuredInstance[], monotonicMs: number): MachineUse {
    const percent = CPU_IDLE_PERCENT + sum(instances, (one) => one.cpuPercent);
    this.#busyMs += ((monotonicMs - (this.#lastMs ?? monotonicMs)) * percent) / 100;
    this.#lastMs = monotonicMs;
    for (const one of instances) {
      const run = `${one.instanceId}:${one.generation}`;
      const before = this.#seen.get(run);
      this.#received += one.receivedBytes - (before?.received ?? one.receivedBytes);
      this.#sent += one.sentBytes - (before?.sent ?? one.sentBytes);
    }
    this.#seen.clear();
    for (const { instanceId, generation, receivedBytes: received, sentBytes: sent } of instances) {
      this.#seen.set(`${instanceId}:${generation}`, { received, sent });
    }
    return {
      busyMs: this.#busyMs,
      memoryBytes: SYSTEM_MEMORY_BYTES + sum(instances, (one) => one.memoryBytes),
      diskBytes: SYSTEM_DISK_BYTES + sum(instances, (one) => one.diskBytes),
      receivedBytes: this.#received,
      sentBytes: this.#sent,
    };
  }
}

function sum(instances: readonly MeasuredInstance[], of: (one: MeasuredInstance) => number): number {
  return instances.reduce((total, one) => total + of(one), 0);
}
