import { estimateDlperf, findGpuModel, type GpuFacts, type MachineFacts } from "../../../protocol/index.ts";
import { seededRandom } from "../base/random.ts";
import { drivers, NEW_GPU_CUDA, shapes, type Kind, type Shape, type Weighted } from "./shapes.ts";

const BYTES_PER_GIB = 2 ** 30;
/** GPUs from this capability on need a recent driver. */
const NEW_GPU_COMPUTE_CAP = 1000;
const PCIE_GB_PER_S_PER_GEN: Readonly<Record<number, number>> = { 3: 12.1, 4: 24.4, 5: 52.7 };

export type SimulatedMachine = { readonly machine: MachineFacts; readonly gpus: readonly GpuFacts[] };

/** Invents the machine of one simulated host. The same key gives the same machine, so a restart shows it again. */
export function inventMachine(input: {
  readonly host_key: string;
  readonly number: number;
  readonly public_ipaddr: string;
  readonly port_range: { readonly first: number; readonly last: number };
  /** How many GPUs it has; undefined for as many as such machines have. */
  readonly gpu_count?: number | undefined;
}): SimulatedMachine {
  const random = seededRandom(input.host_key);
  const shape = pick(shapes, random);
  const drawn_count = pick(shape.gpu_counts, random);
  const count = input.gpu_count ?? drawn_count;
  const machine: MachineFacts = {
    hostname: `simulated-${input.number}`,
    is_simulated: true,
    ...inventBoard(shape.kind, count, random),
    ...inventLine(shape.kind, random),
    public_ipaddr: input.public_ipaddr,
    direct_port_start: input.port_range.first,
    direct_port_end: input.port_range.last,
    ...inventSystem(shape, random),
  };
  return { machine, gpus: Array.from({ length: count }, (_, index) => inventGpu(input.host_key, shape.gpu, index)) };
}

function inventBoard({ boards, disks }: Kind, gpu_count: number, random: () => number) {
  const fitting = boards.filter((board) => board.gpus_max >= gpu_count);
  // A board of another size than there is: somebody asked for so many GPUs.
  const { gpus_max: _, memory_gib, disk_gb, ...board } = pickEqually(fitting.length > 0 ? fitting : boards, random);
  const disk = pickEqually(disks, random);
  return {
    ...board,
    cpu_arch: "amd64" as const,
    has_avx: true,
    memory_bytes: pickEqually(memory_gib, random) * BYTES_PER_GIB,
    disk_bytes: pickEqually(disk_gb, random) * 1e9,
    disk_name: disk.name,
    disk_mb_per_s: disk.mb_per_s,
    pcie_gb_per_s: PCIE_GB_PER_S_PER_GEN[board.pci_gen] ?? 12,
  };
}

function inventLine({ inet_mbps, upload_share, static_ip_share, places }: Kind, random: () => number) {
  // As many lines between 100 and 200 as between 1,000 and 2,000.
  const down = inet_mbps.least * (inet_mbps.most / inet_mbps.least) ** random();
  return {
    inet_down_mbps: Math.round(down),
    inet_up_mbps: Math.round(down * upload_share * (0.7 + 0.3 * random())),
    has_static_ip: random() < static_ip_share,
    geolocation: pick(places, random),
  };
}

function inventSystem({ gpu }: Shape, random: () => number) {
  const isNew = (findGpuModel(gpu)?.compute_cap ?? 0) >= NEW_GPU_COMPUTE_CAP;
  const driver = pick(isNew ? drivers.filter(([, { cuda }]) => cuda >= NEW_GPU_CUDA) : drivers, random);
  return {
    os_version: random() < 0.6 ? "22.04" : "24.04",
    kernel_version: "6.8.0-simulated",
    driver_version: driver.version,
    cuda_max_good: driver.cuda,
  };
}

function inventGpu(host_key: string, name: string, index: number): GpuFacts {
  const model = findGpuModel(name);
  if (!model) throw new Error(`the table of GPU models lacks ${name}`);
  const { memory_mb, compute_cap, memory_gb_per_s, max_power_w, tflops, pci_lanes, nvlink_gb_per_s } = model;
  return {
    uuid: `simulated-${host_key}-${index}`,
    index,
    name,
    memory_mb,
    compute_cap,
    memory_gb_per_s,
    max_power_w,
    tflops,
    dlperf: estimateDlperf(tflops, memory_gb_per_s),
    pci_lanes,
    nvlink_gb_per_s,
    is_declared: false,
  };
}

/** One of these, as often as its weight says. */
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
