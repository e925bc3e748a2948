import { estimateDlperf, findGpuModel, type GpuFacts, type MachineFacts } from "../../../../../../protocol/index.ts";
import { invalid, type AppError } from "../../../../base/errors.ts";

/** One declared fact that cannot be true: the field, and a sentence with its permitted values. */
export type Nonsense = { readonly field: string; readonly sentence: string };

/** The fastest uplink of one machine that is believed, in Mbit/s: a 400 Gbit/s network card. */
const UPLINK_MBPS_MAX = 400_000;

const GPUS_MAX = 32;
const GIB = 2 ** 30;
const TB = 1e12;

type Described = { readonly machine: MachineFacts; readonly gpus: readonly GpuFacts[] };
type Bound<Key> = readonly [field: Key, most: number, unit: string];

/** Upper bounds above every machine that can be bought, with room for some years. */
const MACHINE_BOUNDS: readonly Bound<keyof MachineFacts>[] = [
  ["inet_up_mbps", UPLINK_MBPS_MAX, "Mbit/s"],
  ["inet_down_mbps", UPLINK_MBPS_MAX, "Mbit/s"],
  ["cpu_cores", 2_048, "cores"],
  ["cpu_ghz", 10, "GHz"],
  ["memory_bytes", 64 * 1024 * GIB, "bytes"],
  ["disk_bytes", 10_000 * TB, "bytes"],
  ["disk_mb_per_s", 500_000, "MB/s"],
  ["pci_gen", 8, ""],
  ["pcie_gb_per_s", 512, "GB/s"],
  ["cuda_max_good", 30, ""],
];

const GPU_BOUNDS: readonly Bound<keyof GpuFacts>[] = [
  ["memory_mb", 1_048_576, "MB"],
  ["compute_cap", 2_000, "hundredths"],
  ["memory_gb_per_s", 50_000, "GB/s"],
  ["max_power_w", 5_000, "W"],
  ["tflops", 5_000, "TFLOPS"],
  ["dlperf", 10_000, ""],
  ["pci_lanes", 32, "lanes"],
  ["nvlink_gb_per_s", 10_000, "GB/s"],
  ["max_temp_c", 200, "°C"],
];
/** The first CUDA capability that existed; 0 means that it is unknown. */
const COMPUTE_CAP_MIN = 100;
/** Cards are sold with half or twice the memory of their model, never less or more. */
const [MEMORY_SHARE_MIN, MEMORY_SHARE_MAX] = [0.4, 2.1];
/** How far a card may be above the published speed of its model, overclocked and rounded up. */
const SPEED_SHARE_MAX = 2;
/** A version such as 570.124.06, or empty on a machine without a driver. */
const DRIVER_VERSION = /^(\d{1,3}(\.\d{1,5}){0,3})?$/;

/** The first declared fact that cannot be true; undefined when all can. */
export function findNonsense({ machine, gpus }: Described): Nonsense | undefined {
  if (gpus.length > GPUS_MAX) {
    return { field: "gpus", sentence: `${gpus.length} GPUs are declared; one machine has ${GPUS_MAX} at most.` };
  }
  const ofMachine = aboveBound("machine", machine, MACHINE_BOUNDS) ?? ofDriver(machine);
  if (ofMachine !== undefined) return ofMachine;
  for (const [index, gpu] of gpus.entries()) {
    const name = `gpus[${index}]`;
    const found = aboveBound(name, gpu, GPU_BOUNDS) ?? ofCapability(name, gpu) ?? againstModel(name, gpu);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The error for an agent whose declared facts cannot be true. */
export function senselessFacts({ field, sentence }: Nonsense): AppError {
  return invalid(
    field,
    `${sentence} Correct what the agent declares (docs/hosts.md), and it is let in.`,
    "senseless_facts",
  );
}

function aboveBound<Facts>(
  name: string,
  facts: Facts,
  bounds: readonly Bound<keyof Facts & string>[],
): Nonsense | undefined {
  for (const [key, most, unit] of bounds) {
    const value = facts[key];
    // A fact that older agents do not send.
    if (value === undefined) continue;
    if (typeof value === "number" && Number.isFinite(value) && value <= most) continue;
    const text = `${most} ${unit}`.trim();
    return { field: `${name}.${key}`, sentence: `${name}.${key} is ${String(value)}; it may be ${text} at most.` };
  }
  return undefined;
}

function ofDriver({ driver_version: version }: MachineFacts): Nonsense | undefined {
  if (DRIVER_VERSION.test(version)) return undefined;
  const field = "machine.driver_version";
  return { field, sentence: `${field} is "${version.slice(0, 40)}"; it is a version such as 570.124.06, or empty.` };
}

function ofCapability(name: string, { compute_cap: capability }: GpuFacts): Nonsense | undefined {
  if (capability === 0 || capability >= COMPUTE_CAP_MIN) return undefined;
  const field = `${name}.compute_cap`;
  return { field, sentence: `${field} is ${capability}; it is the CUDA capability times 100, such as 890.` };
}

/** A GPU of a model with published figures must be close to them. */
function againstModel(name: string, gpu: GpuFacts): Nonsense | undefined {
  const model = findGpuModel(gpu.name);
  if (model === undefined) return undefined;
  const contradicts = (key: keyof GpuFacts, expected: string): Nonsense => {
    const field = `${name}.${key}`;
    return { field, sentence: `${field} is ${gpu[key]}, which contradicts the name ${gpu.name}: it has ${expected}.` };
  };
  const share = gpu.memory_mb / model.memoryMb;
  if (share < MEMORY_SHARE_MIN || share > MEMORY_SHARE_MAX) return contradicts("memory_mb", `${model.memoryMb} MB`);
  if (gpu.compute_cap !== 0 && gpu.compute_cap !== model.computeCap) {
    return contradicts("compute_cap", String(model.computeCap));
  }
  if (gpu.tflops > model.tflops * SPEED_SHARE_MAX) return contradicts("tflops", `${model.tflops}`);
  if (gpu.memory_gb_per_s > model.memoryGbPerS * SPEED_SHARE_MAX) {
    return contradicts("memory_gb_per_s", `${model.memoryGbPerS} GB/s`);
  }
  const dlperf = estimateDlperf(model.tflops, model.memoryGbPerS);
  return gpu.dlperf > dlperf * SPEED_SHARE_MAX ? contradicts("dlperf", `about ${dlperf}`) : undefined;
}
