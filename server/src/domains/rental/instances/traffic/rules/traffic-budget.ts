import { nanos, SECONDS_PER_HOUR, type Nanos } from "../../../../../base/money.ts";

/** What traffic of an instance may cost whose renter set no limit, by the operator's settings. */
export type TrafficRules = {
  /** At once, whatever the instance costs. */
  readonly baseNanos: bigint;
  /** In each hour of running, in thousandths of the hourly price. */
  readonly sharePermille: number;
};

/** How far an instance is with what its traffic may cost. */
export type TrafficState = {
  /** What its renter set; undefined for the budget. */
  readonly limitNanos: bigint | undefined;
  /** What was charged so far. */
  readonly spentNanos: bigint;
  /** Of the budget, when the instance had run for so long; undefined before anything was charged. */
  readonly leftNanos: bigint | undefined;
  readonly leftAtMs: bigint;
};

const MS_PER_HOUR = SECONDS_PER_HOUR * 1000n;
/** So many hours of the budget's growth are kept at most: a long honest time does not save up for one flood. */
const SAVED_HOURS = 24n;

/**
 * What the traffic of an instance may still cost: what its limit leaves, or the budget. The budget begins with the base and
 * one hour's growth, grows while the instance runs, and holds the base and a day's growth at most.
 */
export function trafficLeft(
  { limitNanos, spentNanos, leftNanos, leftAtMs }: TrafficState,
  {
    priceNanosPerHour,
    ranMs,
    rules,
  }: { readonly priceNanosPerHour: bigint; readonly ranMs: bigint; readonly rules: TrafficRules },
): Nanos {
  if (limitNanos !== undefined) return nanos(limitNanos > spentNanos ? limitNanos - spentNanos : 0n);
  const perHour = (priceNanosPerHour * BigInt(rules.sharePermille)) / 1000n;
  const left = leftNanos ?? rules.baseNanos + perHour;
  const sinceMs = ranMs > leftAtMs ? ranMs - leftAtMs : 0n;
  const grown = left + (perHour * sinceMs) / MS_PER_HOUR;
  const most = rules.baseNanos + perHour * SAVED_HOURS;
  return nanos(grown < most ? grown : most);
}
