import type { GpuFacts, MachineFacts } from "../../../protocol/index.ts";
import { estimateDlperf, findGpuModel } from "../gpu-models.ts";
import { seededRandom } from "../random.ts";
import { drivers, places, shapes } from "./shapes.ts";

const BYTES_PER_GIB = 2 ** 30;
const PCIE_GB_PER_S_PER_GEN: Readonly<Record<number, number>> = { 3: 12.1, 4: 24.4, 5: 52.7 };

export type SimulatedMachine = { readonly machine: MachineFacts; readonly gpus: readonly GpuFacts[] };

/** Invents the machine of one simulated host. The same key gives the same machine, so a restart shows it again. */
export function inventMachine(input: {
  readonly host_key: string;
  readonly number: number;
  readonly public_ipaddr: string;
  readonly port_range: { readonly first: number; readonly last: number };
}): SimulatedMachine {
  const random = seededRandom(input.host_key);
  const shape = pick(shapes, random);
  const driver = pick(drivers, random);
  const count = pick(shape.gpu_counts, random);
  const inet_down_mbps = shape.is_datacenter
    ? 5_000 + Math.floor(random() * 5_000)
    : 200 + Math.floor(random() * 1_800);
  const machine: MachineFacts = {
    hostname: `simulated-${input.number}`,
    is_simulated: true,
    cpu_name: shape.cpu_name,
    cpu_arch: "amd64",
    cpu_cores: shape.cpu_cores,
    cpu_ghz: shape.cpu_ghz,
    has_avx: true,
    memory_bytes: shape.memory_gib * BYTES_PER_GIB,
    disk_bytes: shape.disk_gb * 1e9,
    disk_name: shape.disk_name,
    disk_mb_per_s: shape.disk_mb_per_s,
    inet_up_mbps: Math.floor(inet_down_mbps * (shape.is_datacenter ? 0.9 : 0.5)),
    inet_down_mbps,
    public_ipaddr: input.public_ipaddr,
    has_static_ip: shape.is_datacenter || random() < 0.5,
    direct_port_start: input.port_range.first,
    direct_port_end: input.port_range.last,
    geolocation: pick(places, random),
    os_version: random() < 0.6 ? "22.04" : "24.04",
    kernel_version: "6.8.0-simulated",
    mobo_name: shape.mobo_name,
    pci_gen: shape.pci_gen,
    pcie_gb_per_s: PCIE_GB_PER_S_PER_GEN[shape.pci_gen] ?? 12,
    driver_version: driver.version,
    cuda_max_good: driver.cuda,
  };
  return { machine, gpus: Array.from({ length: count }, (_, index) => inventGpu(input.host_key, shape.gpu, index)) };
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

function pick<T>(choices: readonly T[], random: () => number): T {
  const chosen = choices[Math.min(Math.floor(random() * choices.length), choices.length - 1)];
  if (chosen === undefined) throw new Error("nothing to choose from");
  return chosen;
}
