import { epochSeconds } from "../../../server/src/base/clock.ts";
import { compileFilter, compileSort } from "../../../server/src/base/filters/compile-filter.ts";
import type { Columns } from "../../../server/src/base/filters/filter.ts";
import { toDollars } from "../../../server/src/base/money.ts";
import {
  availableCount,
  diskBytesOf,
  minBidNanos,
  shareOf,
} from "../../../server/src/domains/supply/market/for-instances.ts";
import { isOpen, type SearchCaller } from "../../../server/src/domains/supply/market/index.ts";
import type { OfferRecord } from "../../../server/src/domains/supply/market/for-assembly.ts";
import { discountPpm } from "../../../server/src/domains/supply/market/rules/discount.ts";
import { OFFER_COLUMNS } from "../../../server/src/domains/supply/market/search/rules/offer-columns.ts";
import {
  driverNumber,
  type OfferedMachine,
} from "../../../server/src/domains/supply/market/search/rules/offer-fields.ts";
import {
  readSearch,
  type SearchRequest,
} from "../../../server/src/domains/supply/market/search/rules/search-request.ts";
import type { LiveOffer } from "../../../server/src/domains/supply/market/store.ts";

type Part = Partial<OfferRecord>;

/**
 * The reference search, written without regard to speed: a record for every offer, a predicate, a sort. The answers of
 * the offer index are compared with it. `bundle_id` and `geolocode` are digests, which it leaves out.
 */
export function referenceSearch(
  market: readonly OfferedMachine[],
  query: Readonly<Record<string, unknown>>,
  caller: SearchCaller,
): readonly Part[] {
  const request = readSearch(query);
  const matches = compileFilter(request.filters, COLUMNS);
  const order = compileSort([...request.order, { column: "id", direction: "asc" }], COLUMNS);
  const found = market
    .flatMap((offered) => offered.offers.map((offer) => referenceRow(offered, offer, { ...request, ...caller })))
    .filter(matches)
    .toSorted(order);
  const counts = new Map<string, number>();
  for (const { bundle } of found) counts.set(bundle, (counts.get(bundle) ?? 0) + 1);
  const shown = new Set<string>();
  return found
    .filter(({ bundle }) => !request.isBundled || (!shown.has(bundle) && shown.add(bundle)))
    .slice(0, request.limit)
    .map(({ record, bundle }, index) => ({
      ...record,
      rn: index + 1,
      bundled_results: request.isBundled ? (counts.get(bundle) ?? 0) : null,
    }));
}

type Row = { readonly record: Part; readonly bundle: string };

const RENAMED: Readonly<Record<string, (record: Part) => unknown>> = {
  datacenter: (record) => record.hosting_type === 1,
  geolocation: (record) => record.geolocation?.slice(-2),
  driver_version: (record) => record.driver_vers,
  gpu_ram_GB: (record) => (record.gpu_ram ?? 0) / 1000,
  gpu_totalram_GB: (record) => (record.gpu_total_ram ?? 0) / 1000,
  cpu_ram_GB: (record) => (record.cpu_ram ?? 0) / 1000,
};

const COLUMNS = Object.fromEntries(
  Object.entries(OFFER_COLUMNS).map(([name, { type }]) => [
    name,
    { type, get: ({ record }: Row) => (RENAMED[name] ?? ((all: Part) => all[name as keyof Part]))(record) },
  ]),
) as Columns<Row>;

function referenceRow(offered: OfferedMachine, offer: LiveOffer, asked: SearchRequest & SearchCaller): Row {
  const record = referenceRecord(offered, offer, asked);
  const { machine } = offered;
  const bundle = JSON.stringify([
    ...ALIKE.map((name) => record[name]),
    Math.floor(machine.reliabilityPpm / 10_000),
    String(machine.priceDeviceNanosPerHour),
    offer.deviceCount,
  ]);
  return { record, bundle };
}

/** Fields in which equal offers agree, besides their size and price. */
const ALIKE = [
  "host_id", "is_simulated", "gpu_is_declared", "resource_type", "verification", "hosting_type", "gpu_name", "gpu_ram",
  "gpu_lanes", "gpu_mem_bw", "gpu_max_power", "gpu_max_temp", "gpu_display_active", "compute_cap", "cuda_max_good", "driver_version", "bw_nvlink", "cpu_cores",
  "cpu_ram", "cpu_ghz", "cpu_name", "cpu_arch", "has_avx", "mobo_name", "pci_gen", "pcie_bw", "os_version", "disk_bw",
  "disk_name", "storage_cost", "inet_up", "inet_down", "inet_up_cost", "inet_down_cost", "direct_port_count",
  "static_ip", "geolocation", "credit_discount_max", "min_bid", "rentable", "rented",
] as const satisfies readonly (keyof OfferRecord)[]; // prettier-ignore

/** The contract's record of an offer, field by field. */
function referenceRecord(
  offered: OfferedMachine,
  offer: LiveOffer,
  asked: Pick<SearchRequest, "type" | "storageGb"> & SearchCaller,
): Part {
  const { machine, grants } = offered;
  const { gpu, facts } = machine;
  const isVerified = machine.verification === "verified";
  const available = availableCount(offered);
  const endDate = epochSeconds(machine.offerEndAt);
  const reliability = machine.reliabilityPpm / 1e6;
  const numGpus = gpu === undefined ? 0 : offer.deviceCount;
  const share = shareOf(machine, offer.deviceCount);
  const onDemand = new Set(grants.filter(({ isBid }) => !isBid).map(({ deviceId }) => deviceId));
  return {
    id: offer.id,
    ask_contract_id: offer.id,
    machine_id: machine.id,
    host_id: machine.hostId,
    hostname: facts.is_simulated ? facts.hostname : null,
    is_simulated: facts.is_simulated,
    gpu_is_declared: gpu?.is_declared ?? false,
    public_ipaddr: facts.public_ipaddr,
    cluster_id: null,
    resource_type: machine.resourceType,
    rentable: isOpen(machine, asked.now) && offer.deviceCount <= available,
    rented: asked.rentedMachines.has(machine.id),
    is_bid: asked.type === "bid",
    external: false,
    verification: isVerified ? "verified" : "unverified",
    verified: isVerified,
    vericode: isVerified ? 1 : 0,
    is_vm_deverified: false,
    hosting_type: machine.hostingType,
    logo: null,
    webpage: null,
    error_description: null,
    gpu_name: gpu?.name ?? "CPU",
    num_gpus: numGpus,
    gpu_frac: share,
    gpu_ram: gpu?.memory_mb ?? 0,
    gpu_total_ram: (gpu?.memory_mb ?? 0) * numGpus,
    gpu_arch: gpu === undefined ? "none" : "nvidia",
    gpu_ids:
      gpu === undefined
        ? []
        : machine.devices.filter(({ id, isUsable }) => isUsable && !onDemand.has(id)).map(({ position }) => position),
    gpu_lanes: gpu?.pci_lanes ?? 0,
    gpu_mem_bw: gpu?.memory_gb_per_s ?? 0,
    gpu_max_power: gpu?.max_power_w ?? 0,
    gpu_max_temp: gpu?.max_temp_c ?? 0,
    gpu_display_active: gpu?.is_display_active ?? false,
    compute_cap: gpu?.compute_cap ?? 0,
    cuda_max_good: facts.cuda_max_good,
    driver_version: facts.driver_version,
    driver_vers: driverNumber(facts.driver_version),
    bw_nvlink: gpu?.nvlink_gb_per_s ?? 0,
    cpu_cores: facts.cpu_cores,
    cpu_cores_effective: facts.cpu_cores * share,
    cpu_ram: Math.round(facts.memory_bytes / 1e6),
    cpu_ghz: facts.cpu_ghz,
    cpu_name: facts.cpu_name,
    cpu_arch: facts.cpu_arch,
    has_avx: facts.has_avx ? 1 : 0,
    mobo_name: facts.mobo_name,
    pci_gen: facts.pci_gen,
    pcie_bw: facts.pcie_gb_per_s,
    os_version: facts.os_version,
    vms_enabled: false,
    disk_space: Math.floor(Number(diskBytesOf(offered, offer.deviceCount)) / 1e8) / 10,
    disk_bw: facts.disk_mb_per_s,
    disk_name: facts.disk_name,
    inet_up: facts.inet_up_mbps,
    inet_down: facts.inet_down_mbps,
    inet_up_cost: toDollars(machine.priceInetUpNanosPerGb),
    inet_down_cost: toDollars(machine.priceInetDownNanosPerGb),
    internet_up_cost_per_tb: toDollars(machine.priceInetUpNanosPerGb) * 1024,
    internet_down_cost_per_tb: toDollars(machine.priceInetDownNanosPerGb) * 1024,
    direct_port_count: Math.max(0, facts.direct_port_end - facts.direct_port_start + 1),
    static_ip: facts.has_static_ip,
    private_registries: facts.is_simulated || facts.allowed_registries !== undefined,
    geolocation: facts.geolocation,
    avail_vol_ask_id: offered.volume?.askId ?? null,
    avail_vol_size: offered.volume?.sizeGb ?? null,
    avail_vol_dph: offered.volume?.dollarsPerHour ?? null,
    nw_disk_min_bw: null,
    nw_disk_max_bw: null,
    nw_disk_avg_bw: null,
    credit_discount_max: machine.creditDiscountMaxPermille / 1000,
    platform_fee: offered.platformFee ?? 0,
    reliability,
    reliability2: reliability,
    expected_reliability: reliability,
    reliability_mult: reliability,
    start_date: epochSeconds(machine.createdAt),
    end_date: endDate,
    duration: Math.max(0, endDate - epochSeconds(asked.now)),
    time_remaining: remaining(endDate - epochSeconds(asked.now)),
    time_remaining_isbid: remaining(endDate - epochSeconds(asked.now)),
    ...prices(offered, offer, asked),
  };
}

function remaining(seconds: number): string {
  if (seconds <= 0) return "";
  const hours = Math.floor(seconds / 3600);
  if (hours === 0) return "less than an hour";
  const say = (count: number, unit: string) => (count === 0 ? [] : [`${count} ${unit}${count > 1 ? "s" : ""}`]);
  return [...say(Math.floor(hours / 24), "day"), ...say(hours % 24, "hour")].join(", ");
}

function prices(
  offered: OfferedMachine,
  offer: LiveOffer,
  { type, storageGb }: Pick<SearchRequest, "type" | "storageGb">,
): Part {
  const { machine } = offered;
  const tidy = (value: number) => Number(value.toPrecision(12));
  const numGpus = machine.gpu === undefined ? 0 : offer.deviceCount;
  const [dlperf, flops] = [tidy((machine.gpu?.dlperf ?? 0) * numGpus), tidy((machine.gpu?.tflops ?? 0) * numGpus)];
  const base = toDollars(machine.priceDeviceNanosPerHour * BigInt(offer.deviceCount));
  const minBid = toDollars(minBidNanos(offered, offer));
  const storageCost = toDollars(machine.priceDiskNanosPerGbMonth);
  const disk = (storageCost * storageGb) / 720;
  const rate = type === "reserved" ? discountPpm(1, machine.creditDiscountMaxPermille) / 1e6 : 0;
  const gpuPrice = type === "bid" ? minBid : base;
  const total = gpuPrice + disk;
  const perDollar = (value: number) => value / Math.max(total, 0.001);
  const price = (gpu: number) => ({
    gpuCostPerHour: gpu,
    diskHour: disk,
    totalHour: gpu + disk,
    discountTotalHour: gpu * rate,
    discountedTotalPerHour: gpu * (1 - rate) + disk,
  });
  const memoryGb = (machine.gpu?.memory_mb ?? 0) / 1000;
  return {
    dlperf,
    total_flops: flops,
    dph_base: base,
    dph_total: total,
    dph_total_adj: total,
    min_bid: minBid,
    storage_cost: storageCost,
    storage_total_cost: disk,
    discount_rate: rate,
    discounted_hourly: type === "reserved" ? base * (1 - rate) : 0,
    discounted_dph_total: gpuPrice * (1 - rate) + disk,
    dlperf_per_dphtotal: perDollar(dlperf),
    flops_per_dphtotal: perDollar(flops),
    vram_costperhour: memoryGb === 0 ? 0 : tidy(toDollars(machine.priceDeviceNanosPerHour) / memoryGb),
    score:
      perDollar(dlperf || shareOf(machine, offer.deviceCount)) *
      (machine.reliabilityPpm / 1e6) *
      (1 + 0.02 * (offer.deviceCount <= availableCount(offered) ? offer.deviceCount / availableCount(offered) : 0)),
    search: price(gpuPrice),
    instance: price(0),
  };
}
