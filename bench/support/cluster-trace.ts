import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

/** A machine of a fleet. */
export type Node = { readonly gpus: number; readonly model: string };
/** A demand: whole GPUs of one machine, of one of these models; of any model when none is named. */
export type Pod = { readonly gpus: number; readonly models: readonly string[] };
export type Trace = { readonly name: string; readonly nodes: readonly Node[]; readonly pods: readonly Pod[] };

/**
 * Reads a public cluster trace: nodes with `gpu` and `model`, pods with `num_gpu`, `gpu_milli` and, where there is one,
 * `gpu_spec`. Pods without GPUs are left out; one that wants a part of a GPU gets a whole one, as renters do.
 */
export function readTrace(nodesFile: string, podsFile: string): Trace {
  const nodes = readTable(nodesFile).map((row) => ({ gpus: Number(row["gpu"]), model: row["model"] ?? "" }));
  const pods = readTable(podsFile).map((row) => ({
    gpus: Number(row["num_gpu"]),
    models: (row["gpu_spec"] ?? "").split("|").filter((model) => model !== ""),
  }));
  return {
    name: podsFile.slice(podsFile.lastIndexOf("/") + 1),
    nodes: nodes.filter(({ gpus }) => gpus > 0),
    pods: pods.filter(({ gpus }) => gpus > 0),
  };
}

function readTable(file: string): readonly Readonly<Record<string, string>>[] {
  const bytes = readFileSync(file);
  const text = (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  const [head = "", ...lines] = text.trim().split(/\r?\n/);
  const names = head.split(",");
  return lines.map((line) => {
    const values = line.split(",");
    return Object.fromEntries(names.map((name, index) => [name, values[index] ?? ""]));
  });
}

type Mix = readonly (readonly [gpus: number, count: number])[];

/** How a fleet of a training cluster is made up, as [GPUs of a machine, machines]. */
const FLEET: Mix = [
  [8, 617],
  [4, 54],
  [2, 518],
  [1, 24],
];
/** Mixes of demand: almost only single GPUs, or half of the demand for several at once. */
const PODS: Readonly<Record<string, Mix>> = {
  "mostly single GPUs": [
    [1, 6_989],
    [2, 16],
    [4, 15],
    [8, 44],
  ],
  "half for several GPUs": [
    [1, 6_989],
    [2, 222],
    [4, 206],
    [8, 556],
  ],
};

/** Traces of those proportions, scaled to so many machines. */
export function makeTraces(machineCount: number): readonly Trace[] {
  const scale = machineCount / FLEET.reduce((sum, [, count]) => sum + count, 0);
  const spread = (mix: Mix) =>
    mix.flatMap(([gpus, count]) => Array.from({ length: Math.ceil(count * scale) }, () => gpus));
  return Object.entries(PODS).map(([name, mix]) => ({
    name,
    nodes: spread(FLEET).map((gpus) => ({ gpus, model: "RTX 4090" })),
    pods: spread(mix).map((gpus) => ({ gpus, models: [] })),
  }));
}
