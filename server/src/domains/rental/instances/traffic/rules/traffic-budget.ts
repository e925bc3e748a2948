import { nanos, SECONDS_PER_HOUR, type Nanos } from "../../../../../base/money.ts";
import type { TrafficRules } from "../../../../supply/hosts/index.ts";

/** The traffic costs of an instance and their limit. */
export type TrafficState = {
  /** The limit that its renter set; undefined for the budget. */
  readonly limitNanos: bigint | undefined;
  /** Traffic costs charged so far. */
  readonly spentNanos: bigint;
  /** The rest of the budget at `leftAtMs` of running time; undefined before anything was charged. */
  readonly leftNanos: bigint | undefined;
  readonly leftAtMs: bigint;
};

const MS_PER_HOUR = SECONDS_PER_HOUR * 1000n;
/** The most hours of growth that the budget saves up: a long honest time must not pay for one flood. */
const SAVED_HOURS = 24n;

/**
 * The traffic costs that an instance may still have: the rest of its limit, or of the budget. The budget begins with
 * the base and one hour's growth, grows while the instance runs, and holds the base and a day's growth at most.
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
