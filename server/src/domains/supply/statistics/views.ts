import { epochSeconds } from "../../../base/clock.ts";
import { toDollars } from "../../../base/money.ts";
import type { Bucket, Verified } from "./rules/sample.ts";
import type { Range, Scope } from "./rules/span.ts";
import type { HistoryRow, StoredSample } from "./store.ts";

const dollars = (amount: bigint | null | undefined) =>
  amount === null || amount === undefined ? null : toDollars(amount);
/** Two decimals, as people read percentages and scores. */
const rounded = (value: number) => Math.round(value * 100) / 100;
const perDollar = (value: number, price: bigint | null | undefined) =>
  price === null || price === undefined || price === 0n ? null : rounded(value / toDollars(price));

/** One row of the present market for each kind of GPU in the scope. */
export function gpuNow(
  samples: readonly StoredSample[],
  { verified, bucket }: Pick<Scope, "verified" | "bucket">,
  usage: ReadonlyMap<string, number>,
) {
  const size = sizeOf(bucket);
  const byName = Map.groupBy(samples, ({ gpuName }) => gpuName);
  const rows = [...byName].flatMap(([name, scopes]) => {
    const of = (scope: Verified) => scopes.find((sample) => sample.verified === scope);
    const chosen = of(verified);
    if (chosen === undefined) return [];
    const [yes, no] = [verified === "no" ? undefined : of("yes"), verified === "yes" ? undefined : of("no")];
    const total = chosen.rentedCount + chosen.availableCount;
    const counts = {
      total,
      available: chosen.availableCount,
      rented_verified: yes?.rentedCount ?? 0,
      avail_verified: yes?.availableCount ?? 0,
      rented_unverified: no?.rentedCount ?? 0,
      avail_unverified: no?.availableCount ?? 0,
    };
    return [
      {
        gpu_name: name,
        ...mapCounts(counts, (count) => Math.round(count / size)),
        unavailable: Math.round(chosen.unavailableCount / size),
        ...inGpus(mapCounts(counts, Math.round)),
        bucket_size: size,
        usage: rounded(total === 0 ? 0 : (chosen.rentedCount / total) * 100),
        usage_30d: rounded((usage.get(name) ?? 0) * 100),
        dlperf: rounded(chosen.dlperf),
        tflops: rounded(chosen.tflops),
        price_p10: dollars(chosen.price_p10_nanos),
        price_p25: dollars(chosen.price_p25_nanos),
        price_median: dollars(chosen.price_p50_nanos),
        price_p75: dollars(chosen.price_p75_nanos),
        price_p90: dollars(chosen.price_p90_nanos),
        tflops_per_dollar: perDollar(chosen.tflops, chosen.price_p50_nanos),
        dlperf_per_dollar: perDollar(chosen.dlperf, chosen.price_p50_nanos),
      },
    ];
  });
  return rows.toSorted((a, b) => b.total - a.total);
}

/**
 * GPUs that one unit of the counts stands for: a whole machine of the size that was asked for. Among machines of all or of
 * other sizes every GPU is counted by itself.
 */
function sizeOf(bucket: Bucket): number {
  return bucket === "all" || bucket === "other" ? 1 : Number(bucket);
}

type Counts<Value> = Readonly<
  Record<"total" | "available" | "rented_verified" | "avail_verified" | "rented_unverified" | "avail_unverified", Value>
>;

function mapCounts<From, To>(counts: Counts<From>, map: (value: From) => To): Counts<To> {
  return {
    total: map(counts.total),
    available: map(counts.available),
    rented_verified: map(counts.rented_verified),
    avail_verified: map(counts.avail_verified),
    rented_unverified: map(counts.rented_unverified),
    avail_unverified: map(counts.avail_unverified),
  };
}

/** The counts under the names that published clients have for numbers of GPUs. */
function inGpus<Value>(counts: Counts<Value>) {
  return {
    total_gpus: counts.total,
    available_gpus: counts.available,
    rented_verified_gpus: counts.rented_verified,
    avail_verified_gpus: counts.avail_verified,
    rented_unverified_gpus: counts.rented_unverified,
    avail_unverified_gpus: counts.avail_unverified,
  };
}

type HistoryFrame = {
  readonly names: readonly string[];
  readonly places: readonly number[];
  readonly range: Range;
  readonly verified: Verified;
  readonly bucket: Bucket;
};

/** The history of each name as parallel arrays; zero where a census found none. */
export function historyOf(rows: readonly HistoryRow[], { names, places, range, verified, bucket }: HistoryFrame) {
  const size = sizeOf(bucket);
  const inUnits = (gpus: readonly number[]) => gpus.map((count) => Math.round(count / size));
  const byName = Map.groupBy(rows, ({ gpuName }) => gpuName);
  const startSeconds = epochSeconds(range.start);
  const timestamps = places.map((place) => startSeconds + place * range.stepSeconds);
  return Object.fromEntries(
    names.map((name) => {
      const scopes = new Map((byName.get(name) ?? []).map((row) => [`${row.verified} ${row.place}`, row]));
      const line = (scope: Verified) => places.map((place) => scopes.get(`${scope} ${place}`));
      const counts = (scope: Verified, field: "rentedCount" | "availableCount" | "unavailableCount") => {
        const isWanted = verified === "all" || verified === scope;
        return line(scope).map((row) => (isWanted ? (row?.[field] ?? 0) : 0));
      };
      const chosen = line(verified);
      type Price = "rentedP10" | "rentedP50" | "rentedP90" | "availableP10" | "availableP50" | "availableP90";
      const gpus = {
        rented_verified: counts("yes", "rentedCount"),
        avail_verified: counts("yes", "availableCount"),
        rented_unverified: counts("no", "rentedCount"),
        avail_unverified: counts("no", "availableCount"),
        total: chosen.map((row) => (row?.rentedCount ?? 0) + (row?.availableCount ?? 0)),
        available: chosen.map((row) => row?.availableCount ?? 0),
      };
      const prices = (field: Price) => chosen.map((row) => dollars(row?.[field]));
      return [
        name,
        {
          supply_demand: {
            timestamps,
            ...mapCounts(gpus, inUnits),
            unavail_verified: inUnits(counts("yes", "unavailableCount")),
            unavail_unverified: inUnits(counts("no", "unavailableCount")),
            ...inGpus(mapCounts(gpus, (counted) => counted.map(Math.round))),
            bucket_size: size,
          },
          pricing: {
            timestamps,
            rented_p10: prices("rentedP10"),
            rented_median: prices("rentedP50"),
            rented_p90: prices("rentedP90"),
            avail_p10: prices("availableP10"),
            avail_median: prices("availableP50"),
            avail_p90: prices("availableP90"),
          },
          stats: statsOf(chosen.findLast((row) => row !== undefined)),
        },
      ];
    }),
  );
}

function statsOf(last: HistoryRow | undefined) {
  if (last === undefined) return { tflops: null, dlperf: null, tflops_per_dollar: null, dlperf_per_dollar: null };
  const price = last.availableP50 ?? last.rentedP50;
  return {
    tflops: rounded(last.tflops),
    dlperf: rounded(last.dlperf),
    tflops_per_dollar: perDollar(last.tflops, price),
    dlperf_per_dollar: perDollar(last.dlperf, price),
  };
}

/** With fewer GPUs, or machines of one size, a count of rented ones would tell of single renters. */
const COUNTED_GPUS_MIN = 8;
const COUNTED_MACHINES_MIN = 4;

type RentersFrame = { readonly start: Date; readonly stepSeconds: number; readonly bucket: Bucket };

/** Prices and supply of one kind of GPU at each step that has a census of it. Rented and free GPUs are null for few GPUs. */
export function rentersHistoryOf(rows: readonly HistoryRow[], { start, stepSeconds, bucket }: RentersFrame) {
  const size = sizeOf(bucket);
  const countedMin = size === 1 && bucket !== "1" ? COUNTED_GPUS_MIN : COUNTED_MACHINES_MIN * size;
  return rows.map((row) => {
    const offered = row.rentedCount + row.availableCount;
    const isCounted = offered >= countedMin;
    return {
      at: epochSeconds(start) + row.place * stepSeconds,
      lowest_ask: dollars(row.availableMin ?? row.availableP10),
      median_ask: dollars(row.availableP50),
      offered_gpus: Math.round(offered),
      rented_gpus: isCounted ? Math.round(row.rentedCount) : null,
      free_gpus: isCounted ? Math.round(row.availableCount) : null,
    };
  });
}

/** Rentable GPUs of each kind, and their prices. */
export function priceNow(samples: readonly StoredSample[], earlier: readonly StoredSample[]) {
  const all = (given: readonly StoredSample[]) => given.filter(({ verified }) => verified === "all");
  const before = new Map(all(earlier).map((sample) => [sample.gpuName, sample]));
  const figures = (sample: StoredSample | undefined) => ({
    available: Math.round(sample?.availableCount ?? 0),
    median: dollars(sample?.available_p50_nanos),
    p10: dollars(sample?.available_p10_nanos),
    p90: dollars(sample?.available_p90_nanos),
  });
  const known = all(samples).filter((sample) => sample.rentedCount + sample.availableCount > 0);
  return known.map((sample) => ({
    gpu_name: sample.gpuName,
    now: figures(sample),
    day_ago: figures(before.get(sample.gpuName)),
  }));
}
