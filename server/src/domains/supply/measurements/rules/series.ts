/**
 * Measured quantities with their numbers in stored measurements, which never change, and the unit in which they are
 * stored: `scale` stored units are one of the API's.
 */
export const METRICS = {
  gpu_util: { number: 1, scale: 10 },
  gpu_memory_bytes: { number: 2, scale: 1 },
  gpu_temperature: { number: 3, scale: 10 },
  gpu_power_watts: { number: 4, scale: 1 },
  cpu_percent: { number: 5, scale: 10 },
  memory_bytes: { number: 6, scale: 1 },
  disk_bytes: { number: 7, scale: 1 },
  net_in_bytes_per_second: { number: 8, scale: 1 },
  net_out_bytes_per_second: { number: 9, scale: 1 },
} as const;
export type Metric = keyof typeof METRICS;

export const GPU_METRICS = ["gpu_util", "gpu_memory_bytes", "gpu_temperature", "gpu_power_watts"] as const;

/** All GPUs of the subject together. */
export const ALL_GPUS = 0;
/** The highest number of a single GPU. */
export const GPU_NUMBER_MAX = 255;

/** A quantity of all GPUs together, or of one: the number of a GPU is its index and one. */
export type SeriesKey = number;

export function seriesKey(metric: Metric, gpuNumber: number = ALL_GPUS): SeriesKey {
  return METRICS[metric].number * 256 + gpuNumber;
}

export function gpuNumberOf(key: SeriesKey): number {
  return key % 256;
}

/** Something that is measured. Instances of one machine never share a subject. */
export type Subject = { readonly kind: "machine" | "instance"; readonly id: number };

export const SUBJECT_KINDS = { machine: 0, instance: 1 } as const;
