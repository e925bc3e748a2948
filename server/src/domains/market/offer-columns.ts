import { epochSeconds } from "../../base/clock.ts";
import type { Columns, ColumnType } from "../../base/filters/filter.ts";
import { offerRecord, type OfferContext, type OfferRecord, type OfferRow } from "./offer-record.ts";

/** A row with the parts of its record that no caller changes, made once when the offer changes. */
export type IndexedOffer = { readonly row: OfferRow; readonly fixed: OfferRecord };

type ScalarField = {
  [K in keyof OfferRecord]: OfferRecord[K] extends string | number | boolean | null ? K : never;
}[keyof OfferRecord];

/** Fields that every caller sees alike. */
const FIXED = {
  id: "integer",
  ask_contract_id: "integer",
  bundle_id: "integer",
  machine_id: "integer",
  host_id: "integer",
  cluster_id: "integer",
  resource_type: "text",
  external: "boolean",
  verification: "text",
  verified: "boolean",
  vericode: "integer",
  hosting_type: "integer",
  is_simulated: "boolean",
  gpu_name: "text",
  num_gpus: "integer",
  gpu_frac: "number",
  gpu_ram: "number",
  gpu_total_ram: "number",
  gpu_arch: "text",
  gpu_lanes: "integer",
  gpu_mem_bw: "number",
  gpu_max_power: "number",
  gpu_max_temp: "number",
  gpu_display_active: "boolean",
  compute_cap: "integer",
  cuda_max_good: "number",
  driver_vers: "integer",
  bw_nvlink: "number",
  dlperf: "number",
  total_flops: "number",
  cpu_cores: "integer",
  cpu_cores_effective: "number",
  cpu_ram: "number",
  cpu_ghz: "number",
  cpu_name: "text",
  cpu_arch: "text",
  has_avx: "integer",
  mobo_name: "text",
  pci_gen: "number",
  pcie_bw: "number",
  os_version: "text",
  vms_enabled: "boolean",
  disk_space: "number",
  disk_bw: "number",
  disk_name: "text",
  inet_up: "number",
  inet_down: "number",
  inet_up_cost: "number",
  inet_down_cost: "number",
  direct_port_count: "integer",
  static_ip: "boolean",
  public_ipaddr: "text",
  is_vm_deverified: "boolean",
  internet_up_cost_per_tb: "number",
  internet_down_cost_per_tb: "number",
  platform_fee: "number",
  reliability_mult: "number",
  dph_base: "number",
  min_bid: "number",
  storage_cost: "number",
  credit_discount_max: "number",
  reliability: "number",
  reliability2: "number",
  expected_reliability: "number",
  start_date: "time",
  end_date: "time",
} as const satisfies Partial<Record<ScalarField, ColumnType>>;

/** Other names that callers use (offer-fields.md §1.6, §1.7). */
export const OFFER_ALIASES = {
  dphtotal: "dph_total",
  dph: "dph_total",
  dph_total_adj: "dph_total",
  driver_version: "driver_vers",
  target_reliability: "expected_reliability",
  gpu_totalram: "gpu_total_ram",
  ubuntu_version: "os_version",
  cuda_vers: "cuda_max_good",
  display_active: "gpu_display_active",
  dlperf_usd: "dlperf_per_dphtotal",
  flops_usd: "flops_per_dphtotal",
} as const;

/** The columns of a search, bound to who asks, when, and for how much storage. */
export function offerColumns(context: OfferContext): Columns<IndexedOffer> {
  const fixed = Object.fromEntries(
    Object.entries(FIXED).map(([name, type]) => [
      name,
      { type, get: ({ fixed: record }: IndexedOffer) => record[name as keyof typeof FIXED] },
    ]),
  );
  const nowSeconds = epochSeconds(context.now);
  const storagePerHour = (row: OfferRow) => (row.storageCost * context.storageGb) / 720;
  const total = ({ row }: IndexedOffer) => (context.type === "bid" ? row.minBid : row.dphBase) + storagePerHour(row);
  const perDollar = (value: number, dollars: number) => (dollars === 0 ? 0 : value / dollars);
  return {
    ...fixed,
    rentable: { type: "boolean", get: ({ row }) => row.isRentable && row.machine.offerEndAt > context.now },
    rented: { type: "boolean", get: ({ row }) => context.rentedMachines.has(row.machine.id) },
    is_bid: { type: "boolean", get: () => context.type === "bid" },
    datacenter: { type: "boolean", get: ({ fixed: record }) => record.hosting_type === 1 },
    geolocation: { type: "text", get: ({ fixed: record }) => record.geolocation.slice(-2) },
    duration: { type: "number", get: ({ fixed: record }) => Math.max(0, record.end_date - nowSeconds) },
    dph_total: { type: "number", get: total },
    gpu_ram_GB: { type: "number", get: ({ fixed: record }) => record.gpu_ram / 1000 },
    gpu_totalram_GB: { type: "number", get: ({ fixed: record }) => record.gpu_total_ram / 1000 },
    cpu_ram_GB: { type: "number", get: ({ fixed: record }) => record.cpu_ram / 1000 },
    storage_total_cost: { type: "number", get: ({ row }) => storagePerHour(row) },
    vram_costperhour: {
      type: "number",
      get: ({ row, fixed: record }) => perDollar(row.dphBase, record.gpu_total_ram / 1000),
    },
    discounted_dph_total: { type: "number", get: total },
    dlperf_per_dphtotal: { type: "number", get: (offer) => perDollar(offer.row.dlperf, total(offer)) },
    flops_per_dphtotal: { type: "number", get: (offer) => perDollar(offer.row.totalFlops, total(offer)) },
    score: {
      type: "number",
      get: (offer) => perDollar(offer.row.dlperf || offer.row.share, total(offer)) * 10,
    },
  };
}

export function indexOffer(row: OfferRow, now: Date): IndexedOffer {
  return { row, fixed: offerRecord(row, { now, type: "ondemand", storageGb: 0, rentedMachines: new Set() }) };
}
