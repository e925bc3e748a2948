import type { FieldWords } from "../schemas.ts";

/** Fields of measurements of instances and machines. */
export const MEASUREMENT_FIELDS: FieldWords = {
  resolution_seconds: ["Length of a step, in seconds", 60],
  times: ["Beginnings of the steps, in seconds since 1970", [1_767_225_600, 1_767_225_660]],
  series: ["Mean of each step; null where nothing was measured"],
  maxima: ["Highest reading of each step; null where nothing was measured"],
  gpu_memory_bytes: ["Memory in use on the GPUs, in bytes", [21_474_836_480, null]],
  gpu_temperature: ["Temperature of the hottest GPU, in °C", [61, null]],
  gpu_power_watts: ["Power that the GPUs draw, in watts", [301, null]],
  memory_bytes: ["Memory in use, in bytes", [34_000_000_000, null]],
  net_in_bytes_per_second: ["Bytes received per second", [20_480, null]],
  net_out_bytes_per_second: ["Bytes sent per second", [5_120, null]],
  "MeasuredSeries.gpu_util": ["Load of the GPUs, in percent", [93.5, null]],
  "MeasuredSeries.cpu_util": ["Part of the rented processors that is in use, from 0 to 1", [0.42, null]],
  "MeasuredSeries.disk_bytes": ["Bytes on the disk", [40_000_000_000, null]],
  "MeasuredGpu.index": ["Number of the GPU, from 0", 0],
  "MeasuredGpu.gpu_util": ["Load of the GPU, in percent", [93.5, null]],
  "InstanceSpark.id": ["Id of the instance", 77],
  "InstanceSpark.gpu_util": ["Load of the GPUs, in percent", [93.5, null]],
  "InstanceSpark.cpu_util": ["Part of the rented processors that is in use, from 0 to 1", [0.42, null]],
};
