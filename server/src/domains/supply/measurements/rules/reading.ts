import type { Measurements } from "../../../../../../protocol/index.ts";
import { encodeSample, type Values } from "./sample.ts";
import { ALL_GPUS, GPU_NUMBER_MAX, METRICS, seriesKey, type Metric, type SeriesKey } from "./series.ts";

const BYTES_PER_MIB = 1_048_576;
/** The highest that a reading can be in the API's units: a host may send any number. */
const LIMITS: Readonly<Partial<Record<Metric, number>>> = {
  gpu_util: 100,
  gpu_temperature: 200,
  gpu_power_watts: 20_000,
  cpu_percent: 4096 * 100,
};

type Gpu = Measurements["gpus"][number];

/**
 * The stored sample of a message. Only instances that the machine was told to have count, each with the GPUs that it was
 * given: what a host says of others is dropped.
 */
export function sampleOf(
  { machine, gpus, instances }: Measurements,
  machineId: number,
  gpusOf: ReadonlyMap<number, readonly string[]>,
): Buffer {
  const byUuid = new Map(gpus.map((gpu) => [gpu.uuid, gpu]));
  const ofMachine = new Map<SeriesKey, number>([...useOf(machine), ...together(gpus), ...apart(gpus)]);
  const ofInstances = new Map<number, Values>();
  for (const instance of instances) {
    const uuids = gpusOf.get(instance.instance_id);
    if (uuids === undefined) continue;
    const own = uuids.flatMap((uuid, index) => {
      const gpu = byUuid.get(uuid);
      return gpu === undefined ? [] : [{ ...gpu, index }];
    });
    const values = [...useOf(instance), ...together(own), ...(uuids.length > 1 ? apart(own) : [])];
    ofInstances.set(instance.instance_id, new Map(values));
  }
  return encodeSample([
    { subject: { kind: "machine", id: machineId }, values: ofMachine },
    ...[...ofInstances].map(([id, values]) => ({ subject: { kind: "instance" as const, id }, values })),
  ]);
}

type Entry = readonly [SeriesKey, number];

function useOf(use: Measurements["machine"]): readonly Entry[] {
  return [
    ...entry("cpu_percent", use.cpu_percent),
    ...entry("memory_bytes", use.memory_bytes),
    ...entry("disk_bytes", use.disk_bytes),
    ...entry("net_in_bytes_per_second", use.received_bytes_per_s),
    ...entry("net_out_bytes_per_second", use.sent_bytes_per_s),
  ];
}

/** Mean load, highest temperature, and the sums of memory and power. */
function together(gpus: readonly Gpu[]): readonly Entry[] {
  const readings = gpus.flatMap(gpuEntries);
  const known = (metric: Metric) => readings.filter(([name]) => name === metric).map(([, value]) => value);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const [loads, temperatures] = [known("gpu_util"), known("gpu_temperature")];
  const [memories, powers] = [known("gpu_memory_bytes"), known("gpu_power_watts")];
  return [
    ...(loads.length === 0 ? [] : entry("gpu_util", sum(loads) / loads.length)),
    ...(temperatures.length === 0 ? [] : entry("gpu_temperature", Math.max(...temperatures))),
    ...(memories.length === 0 ? [] : entry("gpu_memory_bytes", sum(memories))),
    ...(powers.length === 0 ? [] : entry("gpu_power_watts", sum(powers))),
  ];
}

function apart(gpus: readonly Gpu[]): readonly Entry[] {
  return gpus.flatMap((gpu) => {
    const gpuNumber = gpu.index + 1;
    if (gpuNumber > GPU_NUMBER_MAX) return [];
    return gpuEntries(gpu).flatMap(([metric, value]) => entry(metric, value, gpuNumber));
  });
}

function gpuEntries(gpu: Gpu): readonly (readonly [Metric, number])[] {
  const given = [
    ["gpu_util", gpu.utilization_percent],
    ["gpu_memory_bytes", gpu.used_memory_mb === null ? null : gpu.used_memory_mb * BYTES_PER_MIB],
    ["gpu_temperature", gpu.temperature_c],
    ["gpu_power_watts", gpu.power_w],
  ] as const;
  return given.flatMap(([metric, value]) => (value === null ? [] : [[metric, clamp(metric, value)] as const]));
}

function entry(metric: Metric, value: number | null, gpuNumber: number = ALL_GPUS): readonly Entry[] {
  return value === null ? [] : [[seriesKey(metric, gpuNumber), clamp(metric, value) * METRICS[metric].scale]];
}

function clamp(metric: Metric, value: number): number {
  return Math.min(Math.max(0, value), LIMITS[metric] ?? Number.MAX_SAFE_INTEGER);
}
