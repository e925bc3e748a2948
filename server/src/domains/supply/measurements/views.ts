import type { Grid, Points } from "./rules/grid.ts";
import type { Span } from "./rules/tiers.ts";
import { ALL_GPUS, GPU_METRICS, gpuNumberOf, METRICS, seriesKey, type Metric } from "./rules/series.ts";

type Kind = keyof Points;
type Values = (number | null)[];

/** The steps of a grid: `to` is the end of the last one. */
export function viewSteps({ fromS, stepS, count }: Span) {
  const times = Array.from({ length: count }, (_, place) => fromS + place * stepS);
  return { success: true as const, resolution_seconds: stepS, from: fromS, to: fromS + count * stepS, times };
}

/** The history of a machine or an instance; `cpuCores` are the processors that a use of 1 keeps busy. */
export function viewHistory(grid: Grid, cpuCores: number) {
  const all = new Map(grid.series());
  const values = (metric: Metric, kind: Kind, gpuNumber = ALL_GPUS) =>
    valuesOf(grid, all.get(seriesKey(metric, gpuNumber))?.[kind], METRICS[metric].scale);
  const seriesOf = (kind: Kind) => ({
    gpu_util: values("gpu_util", kind),
    gpu_memory_bytes: values("gpu_memory_bytes", kind),
    gpu_temperature: values("gpu_temperature", kind),
    gpu_power_watts: values("gpu_power_watts", kind),
    cpu_util: shareOfCores(values("cpu_percent", kind), cpuCores),
    memory_bytes: values("memory_bytes", kind),
    disk_bytes: values("disk_bytes", kind),
    net_in_bytes_per_second: values("net_in_bytes_per_second", kind),
    net_out_bytes_per_second: values("net_out_bytes_per_second", kind),
  });
  const gpuNumbers = [...new Set([...all.keys()].map(gpuNumberOf))].filter((number) => number !== ALL_GPUS);
  return {
    ...viewSteps(grid),
    series: seriesOf("means"),
    maxima: seriesOf("maxima"),
    gpus: gpuNumbers
      .toSorted((a, b) => a - b)
      .map((number) => {
        const [util, memory, temperature, power] = GPU_METRICS.map((metric) => values(metric, "means", number));
        return {
          index: number - 1,
          gpu_util: util ?? [],
          gpu_memory_bytes: memory ?? [],
          gpu_temperature: temperature ?? [],
          gpu_power_watts: power ?? [],
        };
      }),
  };
}

/** The short history of one instance, for a line in a list. */
export function viewSpark(id: number, grid: Grid, cpuCores: number) {
  const all = new Map(grid.series());
  const values = (metric: Metric) => valuesOf(grid, all.get(seriesKey(metric))?.means, METRICS[metric].scale);
  return {
    id,
    gpu_util: values("gpu_util"),
    gpu_memory_bytes: values("gpu_memory_bytes"),
    cpu_util: shareOfCores(values("cpu_percent"), cpuCores),
    memory_bytes: values("memory_bytes"),
  };
}

function valuesOf({ count }: Grid, stored: Float64Array | undefined, scale: number): Values {
  if (stored === undefined) return Array.from({ length: count }, () => null);
  return Array.from(stored, (value) => (Number.isNaN(value) ? null : Math.round((value * 10) / scale) / 10));
}

function shareOfCores(percents: Values, cpuCores: number): Values {
  return percents.map((percent) =>
    percent === null ? null : Math.round(Math.min(1, percent / 100 / Math.max(1, cpuCores)) * 10_000) / 10_000,
  );
}
