/** Invented machines of the kinds that a market has: enough variety for searching, nothing measured anywhere. */
export type Shape = {
  readonly gpu: string;
  readonly gpu_counts: readonly number[];
  readonly cpu_name: string;
  readonly cpu_cores: number;
  readonly cpu_ghz: number;
  readonly memory_gib: number;
  readonly disk_gb: number;
  readonly disk_name: string;
  readonly disk_mb_per_s: number;
  readonly mobo_name: string;
  readonly pci_gen: number;
  readonly is_datacenter: boolean;
};

const gamer = {
  cpu_name: "Ryzen 9 5950X",
  cpu_cores: 32,
  cpu_ghz: 4.9,
  memory_gib: 128,
  disk_gb: 1800,
  disk_name: "Samsung SSD 980 PRO",
  disk_mb_per_s: 3200,
  mobo_name: "X570 Creator",
  pci_gen: 4,
  is_datacenter: false,
};
const rack = {
  cpu_name: "EPYC 7543",
  cpu_cores: 64,
  cpu_ghz: 2.8,
  memory_gib: 512,
  disk_gb: 3800,
  disk_name: "Micron 7450",
  disk_mb_per_s: 4900,
  mobo_name: "H12DSi-N6",
  pci_gen: 4,
  is_datacenter: false,
};
const pod = {
  cpu_name: "Xeon Platinum 8480C",
  cpu_cores: 224,
  cpu_ghz: 3.8,
  memory_gib: 2048,
  disk_gb: 28000,
  disk_name: "KIOXIA CM7",
  disk_mb_per_s: 9800,
  mobo_name: "DGX baseboard",
  pci_gen: 5,
  is_datacenter: true,
};

export const shapes: readonly Shape[] = [
  { ...gamer, gpu: "RTX 3060", gpu_counts: [1, 2], cpu_name: "Ryzen 5 5600X", cpu_cores: 12, memory_gib: 32 },
  { ...gamer, gpu: "RTX 3090", gpu_counts: [1, 2, 4] },
  { ...gamer, gpu: "RTX 4070 Ti", gpu_counts: [1, 2], cpu_name: "Core i7-13700K", cpu_cores: 24, memory_gib: 64 },
  { ...gamer, gpu: "RTX 4090", gpu_counts: [1, 2] },
  { ...rack, gpu: "RTX 3090", gpu_counts: [4, 8] },
  { ...rack, gpu: "RTX 4090", gpu_counts: [4, 8] },
  { ...rack, gpu: "RTX 5090", gpu_counts: [2, 4, 8], cpu_name: "EPYC 9354", cpu_cores: 128, pci_gen: 5 },
  { ...rack, gpu: "RTX A5000", gpu_counts: [2, 4] },
  { ...rack, gpu: "RTX A6000", gpu_counts: [4, 8] },
  { ...rack, gpu: "RTX 6000Ada", gpu_counts: [2, 4] },
  { ...rack, gpu: "Tesla V100", gpu_counts: [4, 8], cpu_name: "Xeon E5-2698 v4", cpu_cores: 80, pci_gen: 3 },
  { ...rack, gpu: "L40S", gpu_counts: [2, 4, 8], is_datacenter: true },
  { ...rack, gpu: "A100 PCIE", gpu_counts: [1, 2, 4], is_datacenter: true },
  { ...pod, gpu: "A100 SXM4", gpu_counts: [4, 8], cpu_name: "EPYC 7742", cpu_cores: 256, pci_gen: 4 },
  { ...pod, gpu: "H100 SXM", gpu_counts: [8] },
  { ...pod, gpu: "H200", gpu_counts: [8] },
];

export const places: readonly string[] = [
  "California, US",
  "Texas, US",
  "Virginia, US",
  "Quebec, CA",
  "Sweden, SE",
  "Norway, NO",
  "Germany, DE",
  "Poland, PL",
  "Czechia, CZ",
  "France, FR",
  "Spain, ES",
  "United Kingdom, GB",
  "Bulgaria, BG",
  "South Korea, KR",
  "Japan, JP",
  "Taiwan, TW",
  "Australia, AU",
  "Brazil, BR",
];

/** Drivers with the highest CUDA version each of them serves. */
export const drivers: readonly { readonly version: string; readonly cuda: number }[] = [
  { version: "535.183.01", cuda: 12.2 },
  { version: "550.127.05", cuda: 12.4 },
  { version: "560.35.03", cuda: 12.6 },
  { version: "570.124.06", cuda: 12.8 },
];
