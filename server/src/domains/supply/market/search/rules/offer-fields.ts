import { hash } from "node:crypto";
import { epochSeconds } from "../../../../../base/clock.ts";
import { toDollars } from "../../../../../base/money.ts";
import type { Machine } from "../../../hosts/index.ts";
import { availableCount, diskBytesOf, openTimes, shareOf, type MachineState } from "../../rules/machine-state.ts";
import { minBidNanos } from "../../rules/min-bid.ts";
import type { ColumnDefinition } from "./slot-table.ts";
import type { LiveOffer } from "../../store.ts";

const MB_PER_GB = 1000;
const BYTES_PER_MB = 1_000_000;
const BYTES_PER_GB = 1_000_000_000;
/** The contract's terabyte of traffic has 1024 gigabytes. */
const GB_PER_TB = 1024;
const PPM = 1_000_000;

/** GPU name of machines without GPUs. */
export const NO_GPU = "CPU";

/** Rentable volume space on a machine's disk, as its offers show it. */
export type VolumeSpace = { readonly askId: number; readonly sizeGb: number; readonly dollarsPerHour: number };

/** A machine with all data that its offers show. */
export type OfferedMachine = Omit<MachineState, "machine" | "offers"> & {
  readonly offers: readonly LiveOffer[];
  readonly machine: Machine;
  readonly volume: VolumeSpace | undefined;
  /** The fraction of its host's earnings that the platform keeps; 0 when absent. */
  readonly platformFee?: number;
};

type Definitions<Source> = Readonly<Record<string, ColumnDefinition<Source>>>;

/** Fields that all offers of a machine share, under the names of the API's record. */
export const MACHINE_FIELDS = {
  machine_id: { type: "integer", of: ({ machine }) => machine.id },
  host_id: { type: "integer", of: ({ machine }) => machine.hostId },
  hostname: { type: "text", of: ({ machine: { facts } }) => (facts.is_simulated ? facts.hostname : null) },
  is_simulated: { type: "boolean", of: ({ machine }) => machine.facts.is_simulated },
  gpu_is_declared: { type: "boolean", of: ({ machine }) => machine.gpu?.is_declared ?? false },
  public_ipaddr: { type: "text", of: ({ machine }) => machine.facts.public_ipaddr },
  resource_type: { type: "text", of: ({ machine }) => machine.resourceType },
  // A machine that lost its verification for a while is shown as unverified; the reason concerns only its host.
  verification: {
    type: "text",
    of: ({ machine }) => (machine.verification === "verified" ? "verified" : "unverified"),
  },
  verified: { type: "boolean", of: ({ machine }) => machine.verification === "verified" },
  vericode: { type: "integer", of: ({ machine }) => Number(machine.verification === "verified") },
  hosting_type: { type: "integer", of: ({ machine }) => machine.hostingType },
  gpu_name: { type: "text", of: ({ machine }) => machine.gpu?.name ?? NO_GPU },
  gpu_ram: { type: "number", of: ({ machine }) => machine.gpu?.memory_mb ?? 0 },
  gpu_arch: { type: "text", of: ({ machine }) => (machine.gpu === undefined ? "none" : "nvidia") },
  gpu_lanes: { type: "integer", of: ({ machine }) => machine.gpu?.pci_lanes ?? 0 },
  gpu_mem_bw: { type: "number", of: ({ machine }) => machine.gpu?.memory_gb_per_s ?? 0 },
  gpu_max_power: { type: "number", of: ({ machine }) => machine.gpu?.max_power_w ?? 0 },
  gpu_max_temp: { type: "number", of: ({ machine }) => machine.gpu?.max_temp_c ?? 0 },
  gpu_display_active: { type: "boolean", of: ({ machine }) => machine.gpu?.is_display_active ?? false },
  compute_cap: { type: "integer", of: ({ machine }) => machine.gpu?.compute_cap ?? 0 },
  cuda_max_good: { type: "number", of: ({ machine }) => machine.facts.cuda_max_good },
  driver_version: { type: "text", of: ({ machine }) => machine.facts.driver_version },
  driver_vers: { type: "integer", of: ({ machine }) => driverNumber(machine.facts.driver_version) },
  bw_nvlink: { type: "number", of: ({ machine }) => machine.gpu?.nvlink_gb_per_s ?? 0 },
  cpu_cores: { type: "integer", of: ({ machine }) => machine.facts.cpu_cores },
  cpu_ram: { type: "number", of: ({ machine }) => Math.round(machine.facts.memory_bytes / BYTES_PER_MB) },
  cpu_ghz: { type: "number", of: ({ machine }) => machine.facts.cpu_ghz },
  cpu_name: { type: "text", of: ({ machine }) => machine.facts.cpu_name },
  cpu_arch: { type: "text", of: ({ machine }) => machine.facts.cpu_arch },
  has_avx: { type: "integer", of: ({ machine }) => Number(machine.facts.has_avx) },
  mobo_name: { type: "text", of: ({ machine }) => machine.facts.mobo_name },
  pci_gen: { type: "number", of: ({ machine }) => machine.facts.pci_gen },
  pcie_bw: { type: "number", of: ({ machine }) => machine.facts.pcie_gb_per_s },
  os_version: { type: "text", of: ({ machine }) => machine.facts.os_version },
  disk_bw: { type: "number", of: ({ machine }) => machine.facts.disk_mb_per_s },
  disk_name: { type: "text", of: ({ machine }) => machine.facts.disk_name },
  storage_cost: { type: "number", of: ({ machine }) => toDollars(machine.priceDiskNanosPerGbMonth) },
  inet_up: { type: "number", of: ({ machine }) => machine.facts.inet_up_mbps },
  inet_down: { type: "number", of: ({ machine }) => machine.facts.inet_down_mbps },
  inet_up_cost: { type: "number", of: ({ machine }) => toDollars(machine.priceInetUpNanosPerGb) },
  inet_down_cost: { type: "number", of: ({ machine }) => toDollars(machine.priceInetDownNanosPerGb) },
  internet_up_cost_per_tb: {
    type: "number",
    of: ({ machine }) => toDollars(machine.priceInetUpNanosPerGb) * GB_PER_TB,
  },
  internet_down_cost_per_tb: {
    type: "number",
    of: ({ machine }) => toDollars(machine.priceInetDownNanosPerGb) * GB_PER_TB,
  },
  direct_port_count: {
    type: "integer",
    of: ({ machine: { facts } }) => Math.max(0, facts.direct_port_end - facts.direct_port_start + 1),
  },
  static_ip: { type: "boolean", of: ({ machine }) => machine.facts.has_static_ip },
  private_registries: { type: "boolean", of: ({ machine }) => allowsPrivateRegistries(machine) },
  geolocation: { type: "text", of: ({ machine }) => machine.facts.geolocation },
  geolocode: { type: "integer", of: ({ machine }) => numberOf(machine.facts.geolocation, 7) },
  avail_vol_ask_id: { type: "integer", of: ({ volume }) => volume?.askId ?? null },
  avail_vol_size: { type: "number", of: ({ volume }) => volume?.sizeGb ?? null },
  avail_vol_dph: { type: "number", of: ({ volume }) => volume?.dollarsPerHour ?? null },
  platform_fee: { type: "number", of: ({ platformFee = 0 }) => platformFee },
  credit_discount_max: { type: "number", of: ({ machine }) => machine.creditDiscountMaxPermille / 1000 },
  reliability: { type: "number", of: ({ machine }) => machine.reliabilityPpm / PPM },
  reliability2: { type: "number", of: ({ machine }) => machine.reliabilityPpm / PPM },
  expected_reliability: { type: "number", of: ({ machine }) => machine.reliabilityPpm / PPM },
  /** The factor of a machine's reliability in the score. */
  reliability_mult: { type: "number", of: ({ machine }) => machine.reliabilityPpm / PPM },
  start_date: { type: "time", of: ({ machine }) => epochSeconds(machine.createdAt) },
  end_date: { type: "time", of: ({ machine }) => epochSeconds(machine.offerEndAt) },
} as const satisfies Definitions<OfferedMachine>;

/** Facts about a machine that a search needs besides its fields. */
export const MACHINE_MARKS = {
  country: { type: "text", of: ({ machine }) => machine.facts.geolocation.slice(-2) },
  datacenter: { type: "boolean", of: ({ machine }) => machine.hostingType === 1 },
  open_from_ms: { type: "time", of: ({ machine }) => openTimes(machine).fromMs },
  open_until_ms: { type: "time", of: ({ machine }) => openTimes(machine).untilMs },
  /** Places of the GPUs that an offer could have, as the JSON of the record. */
  gpu_ids: { type: "text", of: (offered) => JSON.stringify(placesOf(offered)) },
} as const satisfies Definitions<OfferedMachine>;

/** An offer with its machine, and with values that are equal for all of the machine's offers and slow to compute. */
export type SingleOffer = {
  readonly offered: OfferedMachine;
  readonly offer: LiveOffer;
  readonly available: number;
  readonly minBidNanos: bigint;
  readonly kind: string;
};

/** Fields that differ between the offers of one machine. */
export const OFFER_FIELDS = {
  id: { type: "integer", of: ({ offer }) => offer.id },
  ask_contract_id: { type: "integer", of: ({ offer }) => offer.id },
  bundle_id: {
    type: "integer",
    of: ({ offered: { machine }, offer, minBidNanos: minBid, kind }) =>
      numberOf(`${kind} ${offer.deviceCount} ${machine.priceDeviceNanosPerHour} ${minBid}`, 12),
  },
  num_gpus: { type: "integer", of: (single) => gpuCount(single) },
  gpu_frac: { type: "number", of: ({ offered, offer }) => shareOf(offered.machine, offer.deviceCount) },
  gpu_total_ram: { type: "number", of: (single) => (single.offered.machine.gpu?.memory_mb ?? 0) * gpuCount(single) },
  dlperf: { type: "number", of: (single) => tidy((single.offered.machine.gpu?.dlperf ?? 0) * gpuCount(single)) },
  total_flops: { type: "number", of: (single) => tidy((single.offered.machine.gpu?.tflops ?? 0) * gpuCount(single)) },
  cpu_cores_effective: {
    type: "number",
    of: ({ offered: { machine }, offer }) => machine.facts.cpu_cores * shareOf(machine, offer.deviceCount),
  },
  disk_space: {
    type: "number",
    of: ({ offered, offer }) => Math.floor(Number(diskBytesOf(offered, offer.deviceCount)) / (BYTES_PER_GB / 10)) / 10,
  },
  dph_base: {
    type: "number",
    of: ({ offered: { machine }, offer }) => toDollars(machine.priceDeviceNanosPerHour * BigInt(offer.deviceCount)),
  },
  min_bid: { type: "number", of: (single) => toDollars(single.minBidNanos) },
  vram_costperhour: {
    type: "number",
    of: (single) => {
      const { priceDeviceNanosPerHour, gpu } = single.offered.machine;
      const gigabytes = (gpu?.memory_mb ?? 0) / MB_PER_GB;
      return gigabytes === 0 ? 0 : tidy(toDollars(priceDeviceNanosPerHour) / gigabytes);
    },
  },
} as const satisfies Definitions<SingleOffer>;

export const OFFER_MARKS = {
  /** True when an on-demand rental can have this many devices. */
  is_available: { type: "boolean", of: ({ offer, available }) => offer.deviceCount <= available },
  /** Share of its machine's available devices that it takes: 1 when none is left. */
  fill: {
    type: "number",
    of: ({ offer, available }) => (offer.deviceCount <= available ? offer.deviceCount / available : 0),
  },
} as const satisfies Definitions<SingleOffer>;

/** Fields that are equal for all offers of all machines. */
export const CONSTANT_FIELDS = {
  cluster_id: { type: "integer", value: null },
  external: { type: "boolean", value: false },
  is_vm_deverified: { type: "boolean", value: false },
  logo: { type: "text", value: null },
  webpage: { type: "text", value: null },
  error_description: { type: "text", value: null },
  vms_enabled: { type: "boolean", value: false },
  nw_disk_min_bw: { type: "number", value: null },
  nw_disk_max_bw: { type: "number", value: null },
  nw_disk_avg_bw: { type: "number", value: null },
} as const;

/** The offers of a machine, each with the values that its columns are computed from. */
export function singleOffers(offered: OfferedMachine): readonly SingleOffer[] {
  const available = availableCount(offered);
  const kind = kindOf(offered);
  return offered.offers.map((offer) => ({
    offered,
    offer,
    available,
    minBidNanos: minBidNanos(offered, offer),
    kind,
  }));
}

/** Fields in which machines differ without a difference to renters. */
const INDIVIDUAL: ReadonlySet<string> = new Set([
  "machine_id",
  "hostname",
  "public_ipaddr",
  "avail_vol_ask_id",
  "avail_vol_size",
  "avail_vol_dph",
  "reliability",
  "reliability2",
  "expected_reliability",
  "reliability_mult",
  "start_date",
  "end_date",
]);

/**
 * Equal for machines of one host that a renter has no reason to tell apart; their reliability is rounded to percents.
 */
function kindOf(offered: OfferedMachine): string {
  const values = Object.entries<ColumnDefinition<OfferedMachine>>(MACHINE_FIELDS).flatMap(([name, { of }]) =>
    INDIVIDUAL.has(name) ? [] : [of(offered)],
  );
  return hash("sha1", JSON.stringify([...values, Math.floor(offered.machine.reliabilityPpm / (PPM / 100))]));
}

/** Only the yes or no is public: the registry's name could reveal the host's network. */
function allowsPrivateRegistries({ facts }: Machine): boolean {
  // A simulated machine pulls nothing, so it allows all.
  return facts.is_simulated || (facts.allowed_registries ?? []).length > 0;
}

/** A number of this many hexadecimal digits (13 at most) that is the same for the same text everywhere. */
function numberOf(text: string, digits: number): number {
  return Number.parseInt(hash("sha1", text).slice(0, digits), 16);
}

function gpuCount({ offered, offer }: SingleOffer): number {
  return offered.machine.gpu === undefined ? 0 : offer.deviceCount;
}

/** Drops the digits that multiplication adds: 24.3 for 3 × 8.1. */
function tidy(value: number): number {
  return Number(value.toPrecision(12));
}

function placesOf({ machine, grants }: OfferedMachine): readonly number[] {
  if (machine.gpu === undefined) return [];
  const taken = new Set(grants.filter((grant) => !grant.isBid).map((grant) => grant.deviceId));
  return machine.devices.filter(({ id, isUsable }) => isUsable && !taken.has(id)).map(({ position }) => position);
}

/** A driver version as one number: `535.86.05` is 535086005, three digits for each part after the first. */
export function driverNumber(version: string): number {
  const [major = "0", ...rest] = version.split(".");
  const digits = [...rest, "0", "0"].slice(0, 2).map((part) => part.padStart(3, "0"));
  return Number(`${major}${digits.join("")}`) || 0;
}
