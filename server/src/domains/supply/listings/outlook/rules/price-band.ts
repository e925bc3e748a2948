import { nanos, type Nanos } from "../../../../../base/money.ts";

/** GPUs of one host at one price per GPU and hour. */
export type Ask = { readonly hostId: number; readonly price: bigint; readonly count: number };

/** A band of prices over GPUs; `withheld` where so few hosts stand behind it that it would tell what one of them asks. */
export type PriceBand =
  | { readonly kind: "withheld"; readonly gpuCount: number; readonly hostCount: number }
  | {
      readonly kind: "shown";
      readonly gpuCount: number;
      readonly hostCount: number;
      readonly percentiles: Readonly<Record<"p10" | "p25" | "p50" | "p75" | "p90", Nanos>>;
    };

/** Hosts that must stand behind a band. */
const HOSTS_MIN = 3;

/** The band of these prices, in which each GPU counts once. */
export function bandOf(asks: readonly Ask[]): PriceBand {
  const counted = asks
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => (a.price < b.price ? -1 : Number(a.price > b.price)));
  const gpuCount = counted.reduce((sum, { count }) => sum + count, 0);
  const hostCount = new Set(counted.map(({ hostId }) => hostId)).size;
  if (hostCount < HOSTS_MIN) return { kind: "withheld", gpuCount, hostCount };
  const at = (percent: number) => nanos(priceAt(counted, Math.ceil((gpuCount * percent) / 100)));
  return {
    ...{ kind: "shown", gpuCount, hostCount },
    percentiles: { p10: at(10), p25: at(25), p50: at(50), p75: at(75), p90: at(90) },
  };
}

/** The price of the GPU at this place, counted from one, in the order of prices. */
function priceAt(sorted: readonly Ask[], place: number): bigint {
  let seen = 0;
  for (const { price, count } of sorted) {
    seen += count;
    if (seen >= place) return price;
  }
  return sorted.at(-1)?.price ?? 0n;
}
