// Machines of the market that pictures and tests of the console show.
import type { MachineFacts } from "../../../../protocol/index.ts";

const GB = 1_000_000_000;

export type SeededMachine = {
  readonly gpu: string;
  readonly gpus: number;
  /** The owner's name. */
  readonly owner: string;
  /** Price of one GPU in dollars an hour. */
  readonly price: number;
  readonly facts: Partial<MachineFacts>;
};

type Board = Pick<MachineFacts, "cpu_name" | "cpu_cores" | "cpu_ghz" | "mobo_name" | "pci_gen" | "pcie_gb_per_s">;

const DESK: Board = {
  ...{ cpu_name: "AMD Ryzen 9 7950X", cpu_cores: 32, cpu_ghz: 4.5, mobo_name: "ProArt X670E-CREATOR" },
  ...{ pci_gen: 4, pcie_gb_per_s: 24.4 },
};
const RACK: Board = {
  ...{ cpu_name: "AMD EPYC 7702", cpu_cores: 128, cpu_ghz: 2, mobo_name: "ROMED8-2T" },
  ...{ pci_gen: 4, pcie_gb_per_s: 24.4 },
};
const HALL: Board = {
  ...{ cpu_name: "Intel Xeon Platinum 8480+", cpu_cores: 224, cpu_ghz: 2, mobo_name: "X13DEG-OAD" },
  ...{ pci_gen: 5, pcie_gb_per_s: 52.7 },
};

function machine(
  [owner, hostname, geolocation]: readonly [string, string, string],
  [gpu, gpus, price]: readonly [string, number, number],
  board: Board,
  [memoryGb, diskGb, downMbps, upMbps]: readonly [number, number, number, number],
): SeededMachine {
  const disk = { disk_name: "Samsung PM9A3", disk_bytes: diskGb * GB, disk_mb_per_s: board === DESK ? 3_100 : 5_600 };
  const line = { inet_down_mbps: downMbps, inet_up_mbps: upMbps, has_static_ip: board !== DESK };
  const facts = { ...board, ...disk, ...line, hostname, geolocation, memory_bytes: memoryGb * GB };
  return { owner, gpu, gpus, price, facts };
}

/** The first machines are those on which something is rented. */
export const MACHINES: readonly SeededMachine[] = [
  machine(["fjordcompute", "fjord-01", "Norway, NO"], ["RTX 4090", 4, 0.42], RACK, [256, 3_700, 2_140, 1_860]),
  machine(["fjordcompute", "fjord-02", "Norway, NO"], ["H100 SXM", 8, 2.15], HALL, [2_048, 28_000, 9_400, 9_100]),
  machine(["fjordcompute", "fjord-03", "Norway, NO"], ["RTX 3090", 2, 0.19], DESK, [128, 1_800, 940, 910]),
  machine(["laurentide", "mtl-rack-4", "Quebec, CA"], ["RTX A6000", 4, 0.49], RACK, [512, 7_400, 4_800, 4_600]),
  machine(["laurentide", "mtl-rack-5", "Quebec, CA"], ["L40S", 4, 0.83], RACK, [512, 7_400, 4_800, 4_600]),
  machine(["laurentide", "mtl-rack-6", "Quebec, CA"], ["RTX 4090", 8, 0.39], RACK, [512, 7_400, 4_800, 4_600]),
  machine(["tatragrid", "brno-a", "Czechia, CZ"], ["RTX 5090", 2, 0.71], DESK, [96, 3_700, 980, 870]),
  machine(["tatragrid", "brno-b", "Czechia, CZ"], ["RTX 3090", 4, 0.17], RACK, [128, 1_800, 980, 870]),
  machine(["tatragrid", "brno-c", "Czechia, CZ"], ["RTX 4070S Ti", 2, 0.16], DESK, [64, 900, 980, 870]),
  machine(["lonestar-ml", "dal-17", "Texas, US"], ["A100 SXM4", 8, 1.09], HALL, [1_024, 15_000, 9_100, 8_700]),
  machine(["lonestar-ml", "dal-18", "Texas, US"], ["H200", 8, 2.89], HALL, [2_048, 30_000, 9_300, 9_000]),
  machine(["hanok", "icn-2", "South Korea, KR"], ["RTX 5090", 4, 0.64], RACK, [256, 3_700, 2_900, 2_700]),
  machine(["hanok", "icn-3", "South Korea, KR"], ["RTX 4080S", 2, 0.27], DESK, [96, 1_800, 930, 890]),
  machine(["basaltlabs", "cascadia-1", "Washington, US"], ["RTX 6000Ada", 2, 0.74], DESK, [192, 3_700, 1_900, 1_100]),
];
