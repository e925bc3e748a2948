/**
 * Invented machines in the proportions of an open market: which GPUs there are how often, how many of them share a
 * machine, and what comes with them. Nothing was measured on any machine. What they cost is the server's affair.
 */

/** Something with how often it occurs beside the others of its list. */
export type Weighted<T> = readonly [weight: number, value: T];

/** The machine around the GPUs: enough slots, and the rest in proportion to them. */
export type Board = {
  readonly cpuName: string;
  /** Hardware threads. */
  readonly cpuCores: number;
  readonly cpuGhz: number;
  readonly moboName: string;
  readonly pciGen: number;
  readonly gpusMax: number;
  readonly memoryGib: readonly number[];
  readonly diskGb: readonly number[];
};

/** The owners of such machines decide the uplink, the disks and the address. */
export type Kind = {
  readonly boards: readonly Board[];
  readonly places: readonly Weighted<string>[];
  readonly inetMbps: { readonly least: number; readonly most: number };
  /** The upload speed as a share of the download speed. */
  readonly uploadShare: number;
  readonly staticIpShare: number;
  readonly disks: readonly { readonly name: string; readonly mbPerS: number }[];
};

export type Shape = {
  readonly gpu: string;
  readonly kind: Kind;
  readonly gpuCounts: readonly Weighted<number>[];
};

function board(
  cpuName: string,
  [cpuCores, cpuGhz]: readonly [number, number],
  moboName: string,
  rest: Pick<Board, "pciGen" | "gpusMax" | "memoryGib" | "diskGb">,
): Board {
  return { cpuName, cpuCores, cpuGhz, moboName, ...rest };
}

const desk = { gpusMax: 2, memoryGib: [32, 64, 64, 96, 128], diskGb: [450, 900, 900, 1800, 3700] };
const rig = { gpusMax: 12, memoryGib: [64, 128, 128, 256], diskGb: [900, 1800, 1800, 3700] };
const rack = { gpusMax: 10, memoryGib: [256, 256, 512, 512, 1024], diskGb: [1800, 3700, 7400] };
const hall = { gpusMax: 10, memoryGib: [512, 512, 1024, 1536], diskGb: [3700, 7400, 15_000] };
const pod = { gpusMax: 8, memoryGib: [1024, 2048, 2048], diskGb: [15_000, 28_000, 30_000] };

const homePlaces: readonly Weighted<string>[] = [
  [9, "California, US"],
  [7, "Texas, US"],
  [5, "Florida, US"],
  [5, "Washington, US"],
  [4, "Ohio, US"],
  [4, "Utah, US"],
  [6, "Quebec, CA"],
  [3, "Ontario, CA"],
  [4, "Germany, DE"],
  [4, "Poland, PL"],
  [4, "Czechia, CZ"],
  [4, "Romania, RO"],
  [3, "Hungary, HU"],
  [3, "Bulgaria, BG"],
  [3, "Spain, ES"],
  [3, "United Kingdom, GB"],
  [3, "Sweden, SE"],
  [2, "Estonia, EE"],
  [2, "Ukraine, UA"],
  [4, "South Korea, KR"],
  [3, "Taiwan, TW"],
  [3, "Japan, JP"],
  [3, "China, CN"],
  [2, "Vietnam, VN"],
  [2, "Thailand, TH"],
  [2, "Malaysia, MY"],
  [2, "India, IN"],
  [2, "Australia, AU"],
  [1, "Brazil, BR"],
  [1, "South Africa, ZA"],
];
const centrePlaces: readonly Weighted<string>[] = [
  [9, "Virginia, US"],
  [7, "Oregon, US"],
  [6, "Utah, US"],
  [6, "California, US"],
  [5, "Florida, US"],
  [3, "Colorado, US"],
  [5, "Quebec, CA"],
  [7, "Netherlands, NL"],
  [7, "France, FR"],
  [6, "Belgium, BE"],
  [6, "Iceland, IS"],
  [5, "Norway, NO"],
  [4, "Finland, FI"],
  [4, "Germany, DE"],
  [3, "United Kingdom, GB"],
  [4, "Japan, JP"],
  [3, "Singapore, SG"],
  [3, "Thailand, TH"],
  [3, "India, IN"],
  [2, "Australia, AU"],
];

const flash = [
  { name: "Samsung SSD 980 PRO", mbPerS: 3200 },
  { name: "WD_BLACK SN850X", mbPerS: 4100 },
  { name: "Crucial P3 Plus", mbPerS: 2300 },
  { name: "Kingston SA400", mbPerS: 420 },
];
const serverFlash = [
  { name: "Micron 7450", mbPerS: 4900 },
  { name: "Samsung PM9A3", mbPerS: 5200 },
  { name: "KIOXIA CM7", mbPerS: 9800 },
];

/** One or two cards in somebody's room. */
const home: Kind = {
  boards: [
    board("Core i5-12400F", [12, 4.4], "PRO B660M-A", { ...desk, pciGen: 4, gpusMax: 1 }),
    board("Ryzen 5 5600X", [12, 4.6], "B550 AORUS ELITE", { ...desk, pciGen: 4, gpusMax: 1 }),
    board("Ryzen 9 5950X", [32, 4.9], "X570 Creator", { ...desk, pciGen: 4 }),
    board("Core i7-13700K", [24, 5.4], "Z790 AORUS ELITE", { ...desk, pciGen: 5 }),
    board("Ryzen 9 7950X", [32, 5.7], "X670E Taichi", { ...desk, pciGen: 5 }),
    board("Xeon E5-2680 v4", [56, 3.3], "X99 dual", { ...rig, pciGen: 3 }),
    board("EPYC 7402", [48, 3.3], "ROMED8-2T", { ...rig, pciGen: 4 }),
    board("EPYC 7542", [64, 3.4], "H12SSL-i", { ...rig, pciGen: 4 }),
    board("EPYC 7642", [96, 3.3], "MZ32-AR0", { ...rack, pciGen: 4 }),
  ],
  places: homePlaces,
  inetMbps: { least: 80, most: 2_400 },
  uploadShare: 0.6,
  staticIpShare: 0.35,
  disks: flash,
};

/** Cards of workstations, mostly by the rack. */
const workshop: Kind = {
  ...home,
  boards: [
    board("Ryzen Threadripper PRO 5965WX", [48, 4.5], "WRX80E-SAGE", { ...rig, pciGen: 4, gpusMax: 4 }),
    board("EPYC 7543", [64, 3.7], "H12DSi-N6", { ...rack, pciGen: 4 }),
    board("EPYC 9354", [128, 3.8], "H13DSG-O", { ...rack, pciGen: 5 }),
  ],
  inetMbps: { least: 400, most: 5_000 },
  staticIpShare: 0.7,
  disks: [...flash, ...serverFlash],
};

/** Cards of servers in a hall with an uplink to match. */
const centre: Kind = {
  boards: [
    board("Xeon Gold 6330", [112, 3.1], "R282-Z93", { ...hall, pciGen: 4 }),
    board("EPYC 7713", [128, 3.6], "G292-Z40", { ...hall, pciGen: 4 }),
    board("EPYC 9454", [192, 3.8], "G493-ZB0", { ...hall, pciGen: 5 }),
  ],
  places: centrePlaces,
  inetMbps: { least: 2_000, most: 10_000 },
  uploadShare: 0.95,
  staticIpShare: 1,
  disks: serverFlash,
};

/** Boards that come with their GPUs. */
const olderPods: Kind = {
  ...centre,
  boards: [board("EPYC 7742", [256, 3.4], "A100 baseboard", { ...pod, pciGen: 4 })],
};
const pods: Kind = {
  ...centre,
  boards: [board("Xeon Platinum 8480C", [224, 3.8], "HGX baseboard", { ...pod, pciGen: 5 })],
};

// How many GPUs share a machine. Odd numbers are real: slots break, and cards are sold one by one.
const singles: readonly Weighted<number>[] = [
  [58, 1],
  [22, 2],
  [2, 3],
  [9, 4],
  [1, 5],
  [4, 6],
  [4, 8],
];
const gamers: readonly Weighted<number>[] = [
  [38, 1],
  [20, 2],
  [3, 3],
  [16, 4],
  [2, 5],
  [4, 6],
  [2, 7],
  [12, 8],
  [2, 10],
  [1, 12],
];
const workers: readonly Weighted<number>[] = [
  [22, 1],
  [20, 2],
  [2, 3],
  [28, 4],
  [3, 7],
  [25, 8],
];
const servers: readonly Weighted<number>[] = [
  [14, 1],
  [18, 2],
  [30, 4],
  [4, 7],
  [34, 8],
];
const boarded: readonly Weighted<number>[] = [
  [2, 1],
  [4, 2],
  [14, 4],
  [80, 8],
];

function shape(gpu: string, kind: Kind, gpuCounts: readonly Weighted<number>[]): Shape {
  return { gpu, kind, gpuCounts };
}

/** A few models make most of the market; the others are what somebody still has, or has already. */
export const shapes: readonly Weighted<Shape>[] = [
  [150, shape("RTX 5090", home, gamers)],
  [150, shape("RTX 4090", home, gamers)],
  [100, shape("RTX 3090", home, gamers)],
  [30, shape("RTX 3060", home, singles)],
  [25, shape("RTX 5080", home, singles)],
  [25, shape("RTX 5070 Ti", home, singles)],
  [25, shape("RTX 4070S Ti", home, singles)],
  [20, shape("RTX 4070 Ti", home, singles)],
  [20, shape("RTX 4080S", home, singles)],
  [18, shape("RTX 4080", home, singles)],
  [20, shape("RTX 3080", home, gamers)],
  [16, shape("RTX 3070", home, gamers)],
  [16, shape("RTX 4060 Ti", home, singles)],
  [14, shape("RTX 5060 Ti", home, singles)],
  [14, shape("RTX 3080 Ti", home, gamers)],
  [12, shape("RTX 2080 Ti", home, gamers)],
  [10, shape("RTX 3090 Ti", home, singles)],
  [8, shape("RTX 4060", home, singles)],
  [8, shape("GTX 1080 Ti", home, gamers)],
  [6, shape("RTX 4090D", home, gamers)],
  [24, shape("RTX A6000", workshop, workers)],
  [22, shape("RTX PRO 6000 WS", workshop, workers)],
  [20, shape("RTX 6000Ada", workshop, workers)],
  [16, shape("RTX A5000", workshop, workers)],
  [14, shape("RTX A4000", workshop, workers)],
  [8, shape("RTX 4000Ada", workshop, workers)],
  [8, shape("Q RTX 8000", workshop, workers)],
  [10, shape("Tesla V100", workshop, workers)],
  [6, shape("Tesla T4", workshop, workers)],
  [24, shape("L40S", centre, servers)],
  [12, shape("A40", centre, servers)],
  [10, shape("A10", centre, servers)],
  [8, shape("L40", centre, servers)],
  [8, shape("L4", centre, servers)],
  [16, shape("RTX PRO 6000 S", centre, servers)],
  [20, shape("A100 PCIE", centre, servers)],
  [10, shape("H100 PCIE", centre, servers)],
  [10, shape("H100 NVL", centre, servers)],
  [34, shape("A100 SXM4", olderPods, boarded)],
  [34, shape("H100 SXM", pods, boarded)],
  [20, shape("H200", pods, boarded)],
  [8, shape("B200", pods, boarded)],
];

/** Drivers with the highest CUDA version each of them serves. */
/** The first of the simulated hosts has it, so that a market of one has an offer for those who need the newest CUDA. */
export const NEWEST_DRIVER = { version: "580.65.06", cuda: 13 };
export const drivers: readonly Weighted<{ readonly version: string; readonly cuda: number }>[] = [
  [10, { version: "535.183.01", cuda: 12.2 }],
  [15, { version: "550.127.05", cuda: 12.4 }],
  [15, { version: "560.35.03", cuda: 12.6 }],
  [30, { version: "570.124.06", cuda: 12.8 }],
  [30, NEWEST_DRIVER],
];
/** The first drivers that know the newest GPUs. */
export const NEW_GPU_CUDA = 12.8;
