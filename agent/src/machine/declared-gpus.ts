import { estimateDlperf, findGpuModel } from "../../../protocol/index.ts";
import type { GpuFacts } from "../wire/messages.ts";

export type DeclaredModel = { readonly name: string; readonly count: number };
const MAX_GPUS = 64;

/**
 * Reads `RTX 4090:2, H100 SXM:8`: a canonical name (an underscore may stand for a blank) and how many. Returns a text
 * that says what is wrong instead, when something is.
 */
export function parseDeclaredGpus(text: string): readonly DeclaredModel[] | string {
  const declared: DeclaredModel[] = [];
  for (const part of text.split(",").filter((piece) => piece.trim() !== "")) {
    const match = /^\s*(.+?)\s*(?::\s*(\d{1,2}))?\s*$/.exec(part);
    const name = match?.[1]?.replaceAll("_", " ") ?? "";
    const count = Number(match?.[2] ?? 1);
    if (!findGpuModel(name)) return `unknown GPU model "${name}"`;
    if (count < 1) return `the number of ${name} must be at least 1`;
    declared.push({ name, count });
  }
  const total = declared.reduce((sum, one) => sum + one.count, 0);
  return total > MAX_GPUS ? `at most ${MAX_GPUS} GPUs can be declared` : declared;
}

/** Facts of GPUs that an operator declares for development. They are granted like others and passed to no container. */
export function declaredGpus(hostKey: string, declared: readonly DeclaredModel[], firstIndex: number): GpuFacts[] {
  const names = declared.flatMap(({ name, count }) => Array.from({ length: count }, () => name));
  return names.flatMap((name, position) => {
    const model = findGpuModel(name);
    if (!model) return [];
    const { memoryMb, computeCap, memoryGbPerS, maxPowerW, tflops, pciLanes, nvlinkGbPerS } = model;
    return {
      uuid: `declared-${hostKey}-${position}`,
      index: firstIndex + position,
      name,
      memoryMb,
      computeCap,
      memoryGbPerS,
      maxPowerW,
      tflops,
      dlperf: estimateDlperf(tflops, memoryGbPerS),
      pciLanes,
      nvlinkGbPerS,
      isDeclared: true,
    };
  });
}
