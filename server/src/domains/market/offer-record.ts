import { epochSeconds } from "../../base/clock.ts";
import type { MachineId, OfferId } from "../../base/ids.ts";
import { SECONDS_PER_MONTH, toDollars } from "../../base/money.ts";
import type { Machine } from "../hosts/index.ts";
import { availableCount, isOpen, shareOf, type MachineState } from "./machine-state.ts";
import type { LiveLease, LiveOffer } from "./store.ts";

const BYTES_PER_MB = 1_000_000;
const BYTES_PER_GB = 1_000_000_000;
const HOURS_PER_MONTH = Number(SECONDS_PER_MONTH) / 3600;
/** The smallest step by which a bid beats another, in dollars an hour (core-spec.md, Limits). */
const BID_STEP_NANOS = 1_000_000n;

/** What of an offer does not depend on who asks, when, or for how much storage. Dollars and the contract's units. */
export type OfferRow = {
  readonly id: OfferId;
  readonly machine: Machine;
  readonly deviceCount: number;
  readonly isRentable: boolean;
  readonly isOpen: boolean;
  readonly share: number;
  readonly dphBase: number;
  readonly minBid: number;
  readonly storageCost: number;
  readonly diskSpaceGb: number;
  readonly dlperf: number;
  readonly totalFlops: number;
  readonly availableVolumeGb: number;
};

/** The rows of one machine's offers. */
export function offerRowsOf(state: MachineState & { readonly machine: Machine }): readonly OfferRow[] {
  const { machine } = state;
  const available = availableCount(state);
  return state.offers.map((offer): OfferRow => {
    const share = shareOf(machine, offer.deviceCount);
    const { gpu } = machine;
    return {
      id: offer.id,
      machine,
      deviceCount: offer.deviceCount,
      isRentable: machine.isListed && machine.isConnected && offer.deviceCount <= available,
      isOpen: machine.isListed && machine.isConnected,
      share,
      dphBase: toDollars(machine.priceDeviceNanosPerHour * BigInt(offer.deviceCount)),
      minBid: toDollars(minBidNanos(state, offer)),
      storageCost: toDollars(machine.priceDiskNanosPerGbMonth),
      diskSpaceGb: Math.floor((machine.facts.disk_bytes / BYTES_PER_GB) * share * 10) / 10,
      dlperf: (gpu?.dlperf ?? 0) * offer.deviceCount,
      totalFlops: (gpu?.tflops ?? 0) * offer.deviceCount,
      availableVolumeGb: 0,
    };
  });
}

/**
 * What a new bid for this offer must reach to run now (semantics.md §9.2): the host's floor, or just above the bids that
 * would have to leave, when too few devices are free.
 */
export function minBidNanos(state: MachineState, offer: Pick<LiveOffer, "deviceCount">): bigint {
  const { machine, leases } = state;
  const floor = machine.priceMinBidNanosPerHour;
  const held = new Set(leases.map((lease) => lease.deviceId));
  const freeCount = machine.devices.filter((device) => device.isUsable && !held.has(device.id)).length;
  const missing = offer.deviceCount - freeCount;
  if (missing <= 0) return floor * BigInt(offer.deviceCount);
  const usable = new Set(machine.devices.filter((device) => device.isUsable).map((device) => device.id));
  const bids = leases.filter((lease) => lease.isBid && usable.has(lease.deviceId)).toSorted(byPrice);
  const highest = bids[Math.min(missing, bids.length) - 1]?.priceNanosPerDeviceHour ?? 0n;
  const perDevice = highest >= floor ? highest + BID_STEP_NANOS : floor;
  return perDevice * BigInt(offer.deviceCount);
}

function byPrice(a: LiveLease, b: LiveLease): number {
  if (a.priceNanosPerDeviceHour === b.priceNanosPerDeviceHour) return 0;
  return a.priceNanosPerDeviceHour < b.priceNanosPerDeviceHour ? -1 : 1;
}

export type OfferType = "ondemand" | "bid" | "reserved";

/** What an answer depends on besides the offer. */
export type OfferContext = {
  readonly now: Date;
  readonly type: OfferType;
  readonly storageGb: number;
  /** Machines on which the caller rents already. */
  readonly rentedMachines: ReadonlySet<MachineId>;
};

/** The contract's record of an offer (offer-fields.md §1). */
export function offerRecord(row: OfferRow, context: OfferContext) {
  const { machine } = row;
  const price = prices(row, context);
  return {
    id: row.id,
    ask_contract_id: row.id,
    bundle_id: machine.id,
    bundled_results: null,
    machine_id: machine.id,
    host_id: machine.hostId,
    ...standing(machine),
    rentable: row.isRentable && isOpen(machine, context.now),
    rented: context.rentedMachines.has(machine.id),
    is_bid: context.type === "bid",
    ...gpuFields(row, price.dph_base),
    ...boardFields(row),
    ...networkFields(machine),
    ...price,
    credit_discount_max: machine.creditDiscountMaxPermille / 1000,
    platform_fee: 0,
    ...RELIABILITY,
    score: price.dph_total === 0 ? 0 : ((row.dlperf || row.share) / price.dph_total) * 10,
    ...timeFields(machine, context.now),
  };
}

/** The same for all machines as long as nobody measures it. */
const RELIABILITY = { reliability: 0.99, reliability2: 0.99, expected_reliability: 0.99, reliability_mult: 1 } as const;

function standing({ facts, gpu, resourceType, verification }: Machine) {
  const isVerified = verification === "verified";
  return {
    hostname: facts.is_simulated ? facts.hostname : null,
    is_simulated: facts.is_simulated,
    gpu_is_declared: gpu?.is_declared ?? false,
    cluster_id: null,
    resource_type: resourceType,
    external: false,
    verification,
    verified: isVerified,
    vericode: isVerified ? 1 : 0,
    is_vm_deverified: false,
    hosting_type: 0,
    logo: null,
    webpage: null,
    error_description: null,
  };
}

function timeFields({ createdAt, offerEndAt }: Machine, now: Date) {
  const endDate = epochSeconds(offerEndAt);
  return {
    start_date: epochSeconds(createdAt),
    end_date: endDate,
    duration: Math.max(0, endDate - epochSeconds(now)),
    time_remaining: "",
    time_remaining_isbid: "",
  };
}

function gpuFields(row: OfferRow, dphBase: number) {
  const { gpu, facts } = row.machine;
  const numGpus = gpu === undefined ? 0 : row.deviceCount;
  const totalRam = (gpu?.memory_mb ?? 0) * numGpus;
  return {
    gpu_name: gpu?.name ?? "CPU",
    num_gpus: numGpus,
    gpu_frac: row.share,
    gpu_ram: gpu?.memory_mb ?? 0,
    gpu_total_ram: totalRam,
    gpu_arch: gpu === undefined ? "none" : "nvidia",
    gpu_lanes: gpu?.pci_lanes ?? 0,
    gpu_mem_bw: gpu?.memory_gb_per_s ?? 0,
    gpu_max_power: gpu?.max_power_w ?? 0,
    gpu_max_temp: 0,
    gpu_display_active: false,
    compute_cap: gpu?.compute_cap ?? 0,
    cuda_max_good: facts.cuda_max_good,
    driver_version: facts.driver_version,
    driver_vers: driverNumber(facts.driver_version),
    bw_nvlink: gpu?.nvlink_gb_per_s ?? 0,
    dlperf: row.dlperf,
    total_flops: row.totalFlops,
    vram_costperhour: totalRam === 0 ? 0 : dphBase / (totalRam / 1000),
  };
}

function boardFields({ machine: { facts }, share, diskSpaceGb }: OfferRow) {
  return {
    cpu_cores: facts.cpu_cores,
    cpu_cores_effective: facts.cpu_cores * share,
    cpu_ram: Math.round(facts.memory_bytes / BYTES_PER_MB),
    cpu_ghz: facts.cpu_ghz,
    cpu_name: facts.cpu_name,
    cpu_arch: facts.cpu_arch,
    has_avx: facts.has_avx ? 1 : 0,
    mobo_name: facts.mobo_name,
    pci_gen: facts.pci_gen,
    pcie_bw: facts.pcie_gb_per_s,
    os_version: facts.os_version,
    vms_enabled: false,
    disk_space: diskSpaceGb,
    disk_bw: facts.disk_mb_per_s,
    disk_name: facts.disk_name,
  };
}

function networkFields({ facts, priceInetUpNanosPerGb, priceInetDownNanosPerGb }: Machine) {
  return {
    public_ipaddr: facts.public_ipaddr,
    inet_up: facts.inet_up_mbps,
    inet_down: facts.inet_down_mbps,
    inet_up_cost: toDollars(priceInetUpNanosPerGb),
    inet_down_cost: toDollars(priceInetDownNanosPerGb),
    internet_up_cost_per_tb: toDollars(priceInetUpNanosPerGb) * 1024,
    internet_down_cost_per_tb: toDollars(priceInetDownNanosPerGb) * 1024,
    direct_port_count: Math.max(0, facts.direct_port_end - facts.direct_port_start + 1),
    static_ip: facts.has_static_ip,
    geolocation: facts.geolocation,
  };
}

export type OfferRecord = ReturnType<typeof offerRecord>;

function prices(row: OfferRow, { type, storageGb }: OfferContext) {
  const gpuPerHour = type === "bid" ? row.minBid : row.dphBase;
  const diskPerHour = (row.storageCost * storageGb) / HOURS_PER_MONTH;
  const total = gpuPerHour + diskPerHour;
  const breakdown = (gpu: number) => ({
    gpuCostPerHour: gpu,
    diskHour: diskPerHour,
    totalHour: gpu + diskPerHour,
    discountTotalHour: 0,
    discountedTotalPerHour: gpu + diskPerHour,
  });
  return {
    dph_base: row.dphBase,
    dph_total: total,
    dph_total_adj: total,
    min_bid: row.minBid,
    discount_rate: 0,
    discounted_hourly: 0,
    discounted_dph_total: total,
    storage_cost: row.storageCost,
    storage_total_cost: diskPerHour,
    dlperf_per_dphtotal: total === 0 ? 0 : row.dlperf / total,
    flops_per_dphtotal: total === 0 ? 0 : row.totalFlops / total,
    search: breakdown(gpuPerHour),
    instance: breakdown(0),
  };
}

/** `535.86.05` is 535086005: each part after the first has three digits (offer-fields.md §1.7). */
export function driverNumber(version: string): number {
  const [major = "0", ...rest] = version.split(".");
  const digits = [...rest, "0", "0"].slice(0, 2).map((part) => part.padStart(3, "0"));
  return Number(`${major}${digits.join("")}`) || 0;
}
