import type { GpuMachine } from "../../hosts/index.ts";
import type { RentedDevices } from "../../market/index.ts";

export const VERIFIED = ["yes", "no", "all"] as const;
export const HOSTING = ["all", "secure_cloud", "community"] as const;
export type Verified = (typeof VERIFIED)[number];
export type Hosting = (typeof HOSTING)[number];

/** What there is of one kind of GPU among machines of one scope. */
export type Sample = {
  readonly gpuName: string;
  readonly verified: Verified;
  readonly hosting: Hosting;
  readonly rentedCount: number;
  readonly availableCount: number;
  /** Medians over the GPUs: hosts say these themselves, and one that lies moves a mean as far as it likes. */
  readonly dlperf: number;
  readonly tflops: number;
  readonly prices: Percentiles;
  readonly rentedPrices: Percentiles;
  readonly availablePrices: Percentiles;
};

/** In nano-dollars per GPU and hour; undefined where there is no GPU. */
export type Percentiles = Readonly<Record<"p10" | "p25" | "p50" | "p75" | "p90", bigint | undefined>>;

/** So many GPUs of which each has this value. */
type Valued<Value> = { readonly value: Value; readonly count: number };
/** So many GPUs at this price. */
export type Priced = { readonly price: bigint; readonly count: number };

/** A machine's GPUs, by what became of them. */
export type Counted = {
  readonly machine: GpuMachine;
  readonly rented: readonly Priced[];
  readonly rentedCount: number;
  readonly availableCount: number;
};

/** Sets the machines beside what is rented of them. What nobody can rent now and nobody rents is not counted. */
export function countGpus(
  machines: readonly GpuMachine[],
  rented: readonly RentedDevices[],
  isOpen: (machine: GpuMachine) => boolean,
): readonly Counted[] {
  const rentedOf = Map.groupBy(rented, ({ machineId }) => machineId);
  return machines.flatMap((machine) => {
    const prices = (rentedOf.get(machine.id) ?? []).map((one) => ({
      price: one.priceNanosPerDeviceHour,
      count: one.count,
    }));
    const rentedCount = sum(prices);
    const availableCount = isOpen(machine) ? Math.max(0, machine.usableCount - rentedCount) : 0;
    return rentedCount + availableCount === 0 ? [] : [{ machine, rented: prices, rentedCount, availableCount }];
  });
}

/** Kinds of one census. A name is whatever a host calls its GPUs; each takes rows that are kept for years. */
const KINDS_MAX = 300;

/** The samples of every scope that has GPUs: verified or not or both, in data centres or elsewhere or both. */
export function sampleMarket(counted: readonly Counted[]): readonly Sample[] {
  const kinds = Map.groupBy(counted, ({ machine }) => machine.gpuName);
  return mostCommon(kinds).flatMap(([gpuName, members]) => {
    const scopes = Map.groupBy(
      members.flatMap((one) => scopesOf(one.machine).map((scope) => ({ scope, one }))),
      ({ scope }) => `${scope.verified} ${scope.hosting}`,
    );
    return [...scopes.values()].flatMap((ofScope) =>
      ofScope.slice(0, 1).map(({ scope }) => ({ gpuName, ...scope, ...figuresOf(ofScope.map(({ one }) => one)) })),
    );
  });
}

/** Those with most verified GPUs come first, so that nobody invents names that push out what there is. */
function mostCommon(kinds: ReadonlyMap<string, readonly Counted[]>) {
  if (kinds.size <= KINDS_MAX) return [...kinds];
  const count = (members: readonly Counted[]) =>
    members.reduce((total, { rentedCount, availableCount }) => total + rentedCount + availableCount, 0);
  return [...kinds]
    .map(([name, members]) => {
      const verified = count(members.filter(({ machine }) => machine.isVerified));
      return { kind: [name, members] as const, verified, all: count(members) };
    })
    .toSorted((a, b) => b.verified - a.verified || b.all - a.all)
    .slice(0, KINDS_MAX)
    .map(({ kind }) => kind);
}

function scopesOf({ isVerified, hostingType }: GpuMachine) {
  const verified: readonly Verified[] = ["all", isVerified ? "yes" : "no"];
  const hosting: readonly Hosting[] = ["all", hostingType === 1 ? "secure_cloud" : "community"];
  return verified.flatMap((one) => hosting.map((other) => ({ verified: one, hosting: other })));
}

function figuresOf(members: readonly Counted[]) {
  const rented = members.flatMap((member) => member.rented);
  const available = members.map(({ machine, availableCount }) => ({
    price: BigInt(machine.priceDeviceNanosPerHour),
    count: availableCount,
  }));
  const median = (value: (machine: GpuMachine) => number) =>
    quantilesOf(members.map((one) => ({ value: value(one.machine), count: one.rentedCount + one.availableCount })))(
      50,
    ) ?? 0;
  return {
    rentedCount: sum(rented),
    availableCount: sum(available),
    dlperf: median(({ dlperf }) => dlperf),
    tflops: median(({ tflops }) => tflops),
    prices: percentilesOf([...rented, ...available]),
    rentedPrices: percentilesOf(rented),
    availablePrices: percentilesOf(available),
  };
}

/**
 * By nearest rank, each GPU counting once: the lowest price that at least so many percent of the GPUs have, or are below.
 * Always a price that somebody pays or asks; exact for however few there are.
 */
export function percentilesOf(priced: readonly Priced[]): Percentiles {
  const at = quantilesOf(priced.map(({ price, count }) => ({ value: price, count })));
  return { p10: at(10), p25: at(25), p50: at(50), p75: at(75), p90: at(90) };
}

function quantilesOf<Value extends bigint | number>(
  valued: readonly Valued<Value>[],
): (percent: number) => Value | undefined {
  const sorted = valued
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => (a.value < b.value ? -1 : Number(a.value > b.value)));
  const total = sum(sorted);
  return (percent) => {
    const rank = Math.ceil((total * percent) / 100);
    let seen = 0;
    for (const { value, count } of sorted) {
      seen += count;
      if (seen >= rank) return value;
    }
    return undefined;
  };
}

function sum(counts: readonly { readonly count: number }[]): number {
  return counts.reduce((total, { count }) => total + count, 0);
}
