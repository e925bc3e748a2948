import type { ColumnTypes } from "../../../base/filters/filter.ts";

/** Fields of a benchmark, all of which can be searched and sorted by. */
export const BENCHMARK_COLUMNS = {
  id: { type: "integer" },
  contract_id: { type: "integer" },
  machine_id: { type: "integer" },
  gpu_name: { type: "text" },
  num_gpus: { type: "integer" },
  image: { type: "text" },
  launch_args: { type: "text" },
  template_id: { type: "integer" },
  template_hash: { type: "text" },
  type: { type: "text" },
  value: { type: "number" },
  measured_by: { type: "text" },
  dph_base: { type: "number" },
  last_update: { type: "time" },
} as const satisfies ColumnTypes;

export type BenchmarkColumn = keyof typeof BENCHMARK_COLUMNS;

export function isBenchmarkColumn(name: string): name is BenchmarkColumn {
  return Object.hasOwn(BENCHMARK_COLUMNS, name);
}
