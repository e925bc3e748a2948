import type { ColumnType, FilterScalar } from "../../../../../base/filters/filter.ts";
import type { MachineId } from "../../../../../base/ids.ts";
import { SECONDS_PER_MONTH } from "../../../../../base/money.ts";
import { discountPpm } from "../../rules/discount.ts";
import { CONSTANT_FIELDS, MACHINE_FIELDS, MACHINE_MARKS, OFFER_FIELDS } from "./offer-fields.ts";
import type { OfferIndex } from "./offer-index.ts";
import type { TextDictionary } from "./text-dictionary.ts";

const HOURS_PER_MONTH = Number(SECONDS_PER_MONTH) / 3600;
const MB_PER_GB = 1000;
const PPM = 1_000_000;
/** Least price that a figure per dollar divides by, for cheaper offers too: the smallest bid. */
const LEAST_DOLLARS = 0.001;

export type OfferType = "ondemand" | "bid" | "reserved";

/** The input of a search besides the offers. */
export type OfferContext = {
  readonly now: Date;
  readonly type: OfferType;
  readonly storageGb: number;
  /** Machines on which the caller rents already. */
  readonly rentedMachines: ReadonlySet<MachineId>;
};

/**
 * Columns whose value is computed during a search, each for a slot of an offer or of a machine. `is_open`, a part of
 * `rentable`, is not offered to callers.
 */
const COMPUTED = {
  is_open: "boolean",
  rentable: "boolean",
  rented: "boolean",
  duration: "number",
  storage_total_cost: "number",
  discount_rate: "number",
  discounted_hourly: "number",
  discounted_dph_total: "number",
  dph_total: "number",
  dph_total_adj: "number",
  dlperf_per_dphtotal: "number",
  flops_per_dphtotal: "number",
  score: "number",
  gpu_ram_GB: "number",
  gpu_totalram_GB: "number",
  cpu_ram_GB: "number",
} as const satisfies Readonly<Record<string, ColumnType>>;

type Computed = keyof typeof COMPUTED;

/** All columns that a search can filter and order by, under the names that callers use after aliases. */
export const OFFER_COLUMNS: Readonly<Record<string, { readonly type: ColumnType }>> = {
  ...CONSTANT_FIELDS,
  ...MACHINE_FIELDS,
  ...OFFER_FIELDS,
  ...Object.fromEntries(
    Object.entries(COMPUTED).flatMap(([name, type]) => (name === "is_open" ? [] : [[name, { type }]])),
  ),
  is_bid: { type: "boolean" },
  datacenter: MACHINE_MARKS.datacenter,
  geolocation: MACHINE_MARKS.country,
  driver_version: MACHINE_FIELDS.driver_vers,
};

/** Other names of columns that callers use. */
export const OFFER_ALIASES = {
  dphtotal: "dph_total",
  dph: "dph_total",
  target_reliability: "expected_reliability",
  gpu_totalram: "gpu_total_ram",
  gpu_total_ram_GB: "gpu_totalram_GB",
  ubuntu_version: "os_version",
  cuda_vers: "cuda_max_good",
  display_active: "gpu_display_active",
  dlperf_usd: "dlperf_per_dphtotal",
  flops_usd: "flops_per_dphtotal",
} as const;

/** Columns that are stored under another name than callers use. */
const STORED_AS: Readonly<Record<string, string>> = {
  geolocation: "country",
  driver_version: "driver_vers",
};

/** Source of a column's values during one search. */
export type Source =
  | { readonly kind: "constant"; readonly value: FilterScalar }
  | { readonly kind: "numbers"; readonly ofMachine: boolean; readonly values: Float64Array }
  | {
      readonly kind: "computed";
      readonly ofMachine: boolean;
      readonly at: (slot: number) => number;
      /** Computes the values of many slots at once, for columns that nearly every search needs. */
      readonly fill?: (slots: Int32Array, count: number, into: Float64Array) => void;
    }
  | {
      readonly kind: "texts";
      readonly ofMachine: boolean;
      readonly codes: Int32Array;
      readonly dictionary: TextDictionary;
    };

/**
 * Score bonus of an offer that uses up its machine. Among equally good offers renters then take those that fit, and
 * whole machines stay for renters who need whole ones: without it a market of equal machines, of which each rents out
 * one GPU first, has none left when an eighth of it is rented (`bench placement`). No price is weighed less because of
 * it.
 */
const FILL_BONUS = 0.02;

/** Finds a column of `OFFER_COLUMNS` for one search. */
export function bindColumns(index: OfferIndex, context: OfferContext): (name: string) => Source {
  const computed = computedColumns(index, context);
  return (name) => {
    if (Object.hasOwn(computed, name)) return computed[name as Computed];
    if (name === "is_bid") return { kind: "constant", value: context.type === "bid" };
    if (Object.hasOwn(CONSTANT_FIELDS, name)) {
      return { kind: "constant", value: CONSTANT_FIELDS[name as keyof typeof CONSTANT_FIELDS].value };
    }
    const storedName = STORED_AS[name] ?? name;
    const ofMachine = index.machines.find(storedName);
    const stored = ofMachine ?? index.offers.find(storedName);
    if (stored === undefined) throw new TypeError(`${name} is no column`);
    const isOfMachine = ofMachine !== undefined;
    if (stored.kind === "number") return { kind: "numbers", ofMachine: isOfMachine, values: stored.values };
    return { kind: "texts", ofMachine: isOfMachine, codes: stored.codes, dictionary: stored.dictionary };
  };
}

function computedColumns(index: OfferIndex, context: OfferContext): Readonly<Record<Computed, Source>> {
  const { machines, offers, machineOf } = index;
  const of = (offer: number) => machineOf[offer] ?? 0;
  const scaled = (values: Float64Array, factor: number) => (slot: number) => (values[slot] ?? 0) / factor;
  const { gpuPrice, total, diskPerHour, discountRate, discountedTotal } = bindPrices(index, context);
  const rented = rentedMarks(index, context.rentedMachines);
  const nowMs = context.now.getTime();
  const openFrom = machines.numbers("open_from_ms");
  const openUntil = machines.numbers("open_until_ms");
  const isAvailable = offers.numbers("is_available");
  const endDate = machines.numbers("end_date");
  const reliability = machines.numbers("reliability");
  const dlperf = offers.numbers("dlperf");
  const share = offers.numbers("gpu_frac");
  const fill = offers.numbers("fill");
  const flops = offers.numbers("total_flops");
  const totalRam = offers.numbers("gpu_total_ram");
  const isOpen = (machine: number) => Number((openFrom[machine] ?? 0) <= nowMs && nowMs < (openUntil[machine] ?? 0));
  // Machines without GPUs are ranked by the part of the machine that comes for the price.
  const worth = (offer: number) => (dlperf[offer] || share[offer]) ?? 0;
  const score = (offer: number) =>
    perDollar(worth(offer), total(offer)) * (reliability[of(offer)] ?? 0) * (1 + FILL_BONUS * (fill[offer] ?? 0));
  // Separate loops, so that the one function that each calls is compiled into it.
  const fillScores = (slots: Int32Array, count: number, into: Float64Array) => {
    for (let place = 0; place < count; place += 1) into[place] = score(slots[place] ?? 0);
  };
  const fillTotals = (slots: Int32Array, count: number, into: Float64Array) => {
    for (let place = 0; place < count; place += 1) into[place] = total(slots[place] ?? 0);
  };
  const ofMachine = (at: (slot: number) => number) => ({ kind: "computed", ofMachine: true, at }) as const;
  const ofOffer = (at: (slot: number) => number) => ({ kind: "computed", ofMachine: false, at }) as const;
  return {
    is_open: ofMachine(isOpen),
    rentable: ofOffer((offer) => (isAvailable[offer] ?? 0) * isOpen(of(offer))),
    rented: ofMachine((machine) => rented?.[machine] ?? 0),
    duration: ofMachine((machine) => Math.max(0, (endDate[machine] ?? 0) - nowMs / 1000)),
    storage_total_cost: ofMachine(diskPerHour),
    discount_rate: ofMachine(discountRate),
    discounted_hourly: ofOffer((offer) =>
      context.type === "reserved" ? (gpuPrice[offer] ?? 0) * (1 - discountRate(of(offer))) : 0,
    ),
    discounted_dph_total: ofOffer(discountedTotal),
    dph_total: { ...ofOffer(total), fill: fillTotals },
    dph_total_adj: ofOffer(total),
    dlperf_per_dphtotal: ofOffer((offer) => perDollar(dlperf[offer] ?? 0, total(offer))),
    flops_per_dphtotal: ofOffer((offer) => perDollar(flops[offer] ?? 0, total(offer))),
    score: { ...ofOffer(score), fill: fillScores },
    gpu_ram_GB: ofMachine(scaled(machines.numbers("gpu_ram"), MB_PER_GB)),
    gpu_totalram_GB: ofOffer(scaled(totalRam, MB_PER_GB)),
    cpu_ram_GB: ofMachine(scaled(machines.numbers("cpu_ram"), MB_PER_GB)),
  };
}

/** The prices of offers for one search, in dollars an hour; a search for bids uses the bid that runs now as price. */
export function bindPrices({ machines, offers, machineOf }: OfferIndex, { type, storageGb }: OfferContext) {
  const gpuPrice = offers.numbers(type === "bid" ? "min_bid" : "dph_base");
  const storageCost = machines.numbers("storage_cost");
  const discountMax = machines.numbers("credit_discount_max");
  const diskPerHour = (machine: number) => ((storageCost[machine] ?? 0) * storageGb) / HOURS_PER_MONTH;
  /** The discount of one prepaid month, in a search for reserved rentals. */
  const discountRate = (machine: number) =>
    type === "reserved" ? discountPpm(1, (discountMax[machine] ?? 0) * 1000) / PPM : 0;
  return {
    gpuPrice,
    diskPerHour,
    discountRate,
    total: (offer: number) => (gpuPrice[offer] ?? 0) + diskPerHour(machineOf[offer] ?? 0),
    /** Only running is discounted, not storage. */
    discountedTotal: (offer: number) => {
      const machine = machineOf[offer] ?? 0;
      return (gpuPrice[offer] ?? 0) * (1 - discountRate(machine)) + diskPerHour(machine);
    },
  };
}

function perDollar(value: number, dollars: number): number {
  return value / Math.max(dollars, LEAST_DOLLARS);
}

/** A mark for each machine on which the caller rents; undefined when there is none. */
function rentedMarks(index: OfferIndex, rentedMachines: ReadonlySet<MachineId>): Uint8Array | undefined {
  if (rentedMachines.size === 0) return undefined;
  const marks = new Uint8Array(index.machines.end);
  for (const id of rentedMachines) {
    const machine = index.slotOf(id);
    if (machine !== undefined) marks[machine] = 1;
  }
  return marks;
}
