import { METRICS, seriesKey, type Metric } from "./rules/series.ts";
import type { LastValue } from "./service.ts";

export const PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

type Gauge = {
  readonly name: string;
  readonly help: string;
  readonly metric: Metric;
  readonly isOfGpu: boolean;
  /** The value in the gauge's unit, of one in the API's. */
  readonly convert?: (value: number, cpuCores: number) => number;
};

const GAUGES: readonly Gauge[] = [
  {
    name: "berth_instance_gpu_utilization_ratio",
    help: "Share of the last seconds in which the GPU worked",
    metric: "gpu_util",
    isOfGpu: true,
    convert: (percent) => percent / 100,
  },
  {
    name: "berth_instance_gpu_memory_bytes",
    help: "Memory in use on the GPU",
    metric: "gpu_memory_bytes",
    isOfGpu: true,
  },
  {
    name: "berth_instance_gpu_temperature_celsius",
    help: "Temperature of the GPU",
    metric: "gpu_temperature",
    isOfGpu: true,
  },
  {
    name: "berth_instance_gpu_power_watts",
    help: "Power that the GPU draws",
    metric: "gpu_power_watts",
    isOfGpu: true,
  },
  {
    name: "berth_instance_cpu_utilization_ratio",
    help: "Use of the rented processors; 1 when all of them are busy",
    metric: "cpu_percent",
    isOfGpu: false,
    convert: (percent, cpuCores) => percent / 100 / cpuCores,
  },
  { name: "berth_instance_memory_bytes", help: "Memory in use", metric: "memory_bytes", isOfGpu: false },
  {
    name: "berth_instance_disk_bytes",
    help: "Bytes on the disk of the instance",
    metric: "disk_bytes",
    isOfGpu: false,
  },
  {
    name: "berth_instance_network_receive_bytes_per_second",
    help: "Bytes received per second",
    metric: "net_in_bytes_per_second",
    isOfGpu: false,
  },
  {
    name: "berth_instance_network_transmit_bytes_per_second",
    help: "Bytes sent per second",
    metric: "net_out_bytes_per_second",
    isOfGpu: false,
  },
];

/** Last values in the text format of Prometheus. An instance with one GPU has it under the number 0. */
export function prometheusText(values: readonly LastValue[]): string {
  const manyGpus = new Set(values.flatMap(({ measured, gpuIndex }) => (gpuIndex === undefined ? [] : [measured.id])));
  return GAUGES.map(({ name, help, metric, isOfGpu, convert }) => {
    const lines = values.flatMap(({ measured, key, gpuIndex, value }) => {
      if (key !== seriesKey(metric, gpuIndex === undefined ? 0 : gpuIndex + 1)) return [];
      // The sum over several GPUs would count each of them twice.
      if (isOfGpu && gpuIndex === undefined && manyGpus.has(measured.id)) return [];
      const labels = [
        `id="${measured.id}"`,
        `label="${escapeLabel(measured.label)}"`,
        ...(isOfGpu ? [`gpu="${gpuIndex ?? 0}"`] : []),
      ];
      const inApiUnit = value / METRICS[metric].scale;
      const shown = convert === undefined ? inApiUnit : convert(inApiUnit, measured.cpuCores);
      return [`${name}{${labels.join(",")}} ${Number(shown.toPrecision(6))}\n`];
    });
    return lines.length === 0 ? "" : `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${lines.join("")}`;
  }).join("");
}

/** The three characters that the format escapes in a label; a carriage return would end a line for some readers. */
function escapeLabel(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n").replaceAll("\r", " ");
}
