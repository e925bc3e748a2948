import { randomUUID } from "node:crypto";
import { estimateDlperf, findGpuModel, type GpuFacts } from "../../../protocol/index.ts";

/** An RTX 4090 with 24 GB, unless a test says otherwise. */
export function aGpu(index: number, overrides: Partial<GpuFacts> = {}): GpuFacts {
  return {
    uuid: `GPU-${randomUUID()}`,
    index,
    name: "RTX 4090",
    memory_mb: 24_576,
    compute_cap: 890,
    memory_gb_per_s: 1008,
    max_power_w: 450,
    tflops: 82,
    dlperf: 100,
    pci_lanes: 16,
    nvlink_gb_per_s: 0,
    is_declared: false,
    ...publishedFigures(overrides.name),
    ...overrides,
  };
}

/** The figures of a model, so that a GPU of another name than usual does not contradict it. */
function publishedFigures(name = "RTX 4090"): Partial<GpuFacts> {
  const model = name === "RTX 4090" ? undefined : findGpuModel(name);
  if (model === undefined) return {};
  return {
    memory_mb: model.memoryMb,
    compute_cap: model.computeCap,
    memory_gb_per_s: model.memoryGbPerS,
    max_power_w: model.maxPowerW,
    tflops: model.tflops,
    dlperf: estimateDlperf(model.tflops, model.memoryGbPerS),
    nvlink_gb_per_s: model.nvlinkGbPerS,
  };
}
