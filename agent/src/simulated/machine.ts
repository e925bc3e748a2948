import { estimateDlperf, findGpuModel } from "../../../protocol/index.ts";
import type { GpuFacts, MachineFacts } from "../wire/messages.ts";
import { seededRandom } from "../base/random.ts";
import { drivers, NEW_GPU_CUDA, NEWEST_DRIVER, shapes, type Kind, type Shape, type Weighted } from "./shapes.ts";

const BYTES_PER_GIB = 2 ** 30;
/** GPUs from this capability on need a recent driver. */
const NEW_GPU_COMPUTE_CAP = 1000;
/** Boards with links between GPUs are made for cooler halls. */
const [MAX_TEMP_C, LINKED_MAX_TEMP_C] = [90, 87];
const [DISPLAY_GPUS_MAX, DISPLAY_SHARE] = [2, 0.2];
const PCIE_GB_PER_S_PER_GEN: Readonly<Record<number, number>> = { 3: 12.1, 4: 24.4, 5: 52.7 };

export type SimulatedMachine = { readonly machine: MachineFacts; readonly gpus: readonly GpuFacts[] };

/** Invents the machine of one simulated host. The same key gives the same machine, so a restart shows it again. */
export function inventMachine(input: {
  readonly hostKey: string;
  readonly number: number;
  readonly publicIpaddr: string;
  readonly portRange: { readonly first: number; readonly last: number };
  /** How many GPUs it has; undefined for as many as such machines have. */
  readonly gpuCount?: number | undefined;
}): SimulatedMachine {
  const random = seededRandom(input.hostKey);
  const shape = pick(shapes, random);
  const drawnCount = pick(shape.gpuCounts, random);
  const count = input.gpuCount ?? drawnCount;
  const machine: MachineFacts = {
    hostname: `simulated-${input.number}`,
    isSimulated: true,
    ...inventBoard(shape.kind, count, random),
    ...inventLine(shape.kind, random),
    publicIpaddr: input.publicIpaddr,
    directPortStart: input.portRange.first,
    directPortEnd: input.portRange.last,
    ...inventSystem(shape, input.number, random),
  };
  // A machine with many GPUs stands where nobody looks at it.
  const hasDisplay = count <= DISPLAY_GPUS_MAX && random() < DISPLAY_SHARE;
  const gpus = Array.from({ length: count }, (_, index) => ({
    ...inventGpu(input.hostKey, shape.gpu, index),
    isDisplayActive: hasDisplay && index === 0,
  }));
  return { machine, gpus };
}

function inventBoard({ boards, disks }: Kind, gpuCount: number, random: () => number) {
  const fitting = boards.filter((board) => board.gpusMax >= gpuCount);
  // A board of another size than there is: somebody asked for so many GPUs.
  const { gpusMax: _, memoryGib, diskGb, ...board } = pickEqually(fitting.length > 0 ? fitting : boards, random);
  const disk = pickEqually(disks, random);
  return {
    ...board,
    cpuArch: "amd64" as const,
    hasAvx: true,
    memoryBytes: pickEqually(memoryGib, random) * BYTES_PER_GIB,
    diskBytes: pickEqually(diskGb, random) * 1e9,
    diskName: disk.name,
    diskMbPerS: disk.mbPerS,
    pcieGbPerS: PCIE_GB_PER_S_PER_GEN[board.pciGen] ?? 12,
  };
}

function inventLine({ inetMbps, uploadShare, staticIpShare, places }: Kind, random: () => number) {
  // As many uplinks between 100 and 200 as between 1,000 and 2,000.
  const down = inetMbps.least * (inetMbps.most / inetMbps.least) ** random();
  return {
    inetDownMbps: Math.round(down),
    inetUpMbps: Math.round(down * uploadShare * (0.7 + 0.3 * random())),
    hasStaticIp: random() < staticIpShare,
    geolocation: pick(places, random),
  };
}

function inventSystem({ gpu }: Shape, number: number, random: () => number) {
  const isNew = (findGpuModel(gpu)?.computeCap ?? 0) >= NEW_GPU_COMPUTE_CAP;
  const drawn = pick(isNew ? drivers.filter(([, { cuda }]) => cuda >= NEW_GPU_CUDA) : drivers, random);
  const driver = number === 1 ? NEWEST_DRIVER : drawn;
  return {
    osVersion: random() < 0.6 ? "22.04" : "24.04",
    kernelVersion: "6.8.0-simulated",
    driverVersion: driver.version,
    cudaMaxGood: driver.cuda,
  };
}

function inventGpu(hostKey: string, name: string, index: number): GpuFacts {
  const model = findGpuModel(name);
  if (!model) throw new Error(`the table of GPU models lacks ${name}`);
  const { memoryMb, computeCap, memoryGbPerS, maxPowerW, tflops, pciLanes, nvlinkGbPerS } = model;
  return {
    uuid: `simulated-${hostKey}-${index}`,
    index,
    name,
    memoryMb,
    computeCap,
    memoryGbPerS,
    maxPowerW,
    tflops,
    dlperf: estimateDlperf(tflops, memoryGbPerS),
    pciLanes,
    nvlinkGbPerS,
    maxTempC: nvlinkGbPerS > 0 ? LINKED_MAX_TEMP_C : MAX_TEMP_C,
    isDeclared: false,
  };
}

/** Picks one of the choices, with a probability in proportion to its weight. */
function pick<T>(choices: readonly Weighted<T>[], random: () => number): T {
  let left = random() * choices.reduce((sum, [weight]) => sum + weight, 0);
  const chosen = choices.find(([weight]) => (left -= weight) < 0) ?? choices.at(-1);
  if (chosen === undefined) throw new Error("nothing to choose from");
  return chosen[1];
}

function pickEqually<T>(choices: readonly T[], random: () => number): T {
  return pick(
    choices.map((choice) => [1, choice] as const),
    random,
  );
}
