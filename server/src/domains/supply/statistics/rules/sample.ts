import type { GpuMachine } from "../../hosts/for-statistics.ts";
import type { RentedDevices } from "../../market/index.ts";

export const VERIFIED = ["yes", "no", "all"] as const;
export const HOSTING = ["all", "secure_cloud", "community"] as const;
export type Verified = (typeof VERIFIED)[number];
export type Hosting = (typeof HOSTING)[number];
/** Sizes of machines, in GPUs, that can be looked at by themselves. */
export const BUCKETS = ["all", "1", "2", "4", "8", "other"] as const;
export type Bucket = (typeof BUCKETS)[number];

/** One kind of GPU among machines of one scope, at one time. */
export type Sample = {
  readonly gpuName: string;
  readonly verified: Verified;
  readonly hosting: Hosting;
  readonly bucket: Bucket;
  readonly rentedCount: number;
  readonly availableCount: number;
  /** GPUs that are listed, and neither rented nor available: their machine is offline or rests, or they are faulty. */
  readonly unavailableCount: number;
  /** Medians over the GPUs: hosts declare these values, and one false value could move a mean by any amount. */
  readonly dlperf: number;
  readonly tflops: number;
  readonly prices: Percentiles;
  readonly rentedPrices: Percentiles;
  readonly availablePrices: Percentiles;
  /** The lowest price asked for an available GPU, in nano-dollars an hour; undefined without one. */
  readonly lowestAvailablePrice: bigint | undefined;
};

/** In nano-dollars per GPU and hour; undefined without a GPU. */
export type Percentiles = Readonly<Record<"p10" | "p25" | "p50" | "p75" | "p90", bigint | undefined>>;

/** This many GPUs with this value each. */
type Valued<Value> = { readonly value: Value; readonly count: number };
/** This many GPUs at this price. */
export type Priced = { readonly price: bigint; readonly count: number };

/** A machine's GPUs by their state. */
export type Counted = {
  readonly machine: GpuMachine;
  readonly rented: readonly Priced[];
  readonly rentedCount: number;
  readonly availableCount: number;
  readonly unavailableCount: number;
};

/** How the market treats a machine now. */
export type Standing = "open" | "closed" | "unlisted";

/** Compares the machines with their rented devices. GPUs that are neither rented nor listed are not counted. */
export function countGpus(
  machines: readonly GpuMachine[],
  rented: readonly RentedDevices[],
  standingOf: (machine: GpuMachine) => Standing,
): readonly Counted[] {
  const rentedOf = Map.groupBy(rented, ({ machineId }) => machineId);
  return machines.flatMap((machine) => {
    const prices = (rentedOf.get(machine.id) ?? []).map((one) => ({
      price: one.priceNanosPerDeviceHour,
      count: one.count,
    }));
    const rentedCount = sum(prices);
    const standing = standingOf(machine);
    const availableCount = standing === "open" ? Math.max(0, machine.usableCount - rentedCount) : 0;
    const takenCount = rentedCount + availableCount;
    const unavailableCount = standing === "unlisted" ? 0 : Math.max(0, machine.presentCount - takenCount);
    if (takenCount + unavailableCount === 0) return [];
    return [{ machine, rented: prices, rentedCount, availableCount, unavailableCount }];
  });
}

/** Kinds in one census. A name is any text that a host sends, and each takes rows that are kept for years. */
const KINDS_MAX = 300;

/**
 * The samples of every scope that has GPUs: verified, unverified or both, in data centres, elsewhere or both, in machines
 * of one size or of all.
 */
export function sampleMarket(counted: readonly Counted[]): readonly Sample[] {
  const kinds = Map.groupBy(counted, ({ machine }) => machine.gpuName);
  return mostCommon(kinds).flatMap(([gpuName, members]) => {
    const scopes = Map.groupBy(
      members.flatMap((one) => scopesOf(one.machine).map((scope) => ({ scope, one }))),
      ({ scope }) => `${scope.verified} ${scope.hosting} ${scope.bucket}`,
    );
    return [...scopes.values()].flatMap((ofScope) =>
      ofScope.slice(0, 1).map(({ scope }) => ({ gpuName, ...scope, ...figuresOf(ofScope.map(({ one }) => one)) })),
    );
  });
}

/** Kinds with the most verified GPUs come first, so that invented names cannot push out real ones. */
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

function scopesOf({ isVerified, hostingType, presentCount }: GpuMachine) {
  const verified: readonly Verified[] = ["all", isVerified ? "yes" : "no"];
  const hosting: readonly Hosting[] = ["all", hostingType === 1 ? "secure_cloud" : "community"];
  const buckets: readonly Bucket[] = ["all", bucketOf(presentCount)];
  return verified.flatMap((one) =>
    hosting.flatMap((other) => buckets.map((bucket) => ({ verified: one, hosting: other, bucket }))),
  );
}

function bucketOf(gpuCount: number): Bucket {
  return BUCKETS.find((bucket) => bucket === String(gpuCount)) ?? "other";
}

function figuresOf(members: readonly Counted[]) {
  const rented = members.flatMap((member) => member.rented);
  const available = members.map(({ machine, availableCount }) => ({
    price: BigInt(machine.priceDeviceNanosPerHour),
    count: availableCount,
  }));
  // GPUs that are only listed cost their host nothing: they count where there are no others.
  const hasSupply = members.some((one) => one.rentedCount + one.availableCount > 0);
  const sizeOf = (one: Counted) => (hasSupply ? one.rentedCount + one.availableCount : one.unavailableCount);
  const median = (value: (machine: GpuMachine) => number) =>
    quantilesOf(members.map((one) => ({ value: value(one.machine), count: sizeOf(one) })))(50) ?? 0;
  return {
    rentedCount: sum(rented),
    availableCount: sum(available),
    unavailableCount: members.reduce((total, one) => total + one.unavailableCount, 0),
    dlperf: median(({ dlperf }) => dlperf),
    tflops: median(({ tflops }) => tflops),
    prices: percentilesOf([...rented, ...available]),
    rentedPrices: percentilesOf(rented),
    availablePrices: percentilesOf(available),
    lowestAvailablePrice: quantilesOf(available.map(({ price, count }) => ({ value: price, count })))(0),
  };
}

/**
 * Percentiles by nearest rank, each GPU counting once: the lowest price that at least this percentage of the GPUs do
 * not exceed. Always a price that somebody pays or asks; exact for any number of GPUs.
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
