import { nanos, toDollars } from "../../../../base/money.ts";
import { floorPoints, knownMs, outcomeOf, priceLadder, type FloorStretch, type Watch } from "./rules/replay.ts";

const HOUR_MS = 3_600_000;
const RUNGS_MAX = 32;

/** Outcomes that bids would have had in this range, and the floors as a graph. */
export function viewBidHistory(stretches: readonly FloorStretch[], range: Watch, price: bigint | undefined) {
  const known = knownMs(stretches);
  const outcome = (priceNanos: bigint) => {
    const { runningMs, interruptions } = outcomeOf(stretches, priceNanos);
    return {
      price: toDollars(priceNanos),
      running_share: known === 0 ? 0 : rounded(runningMs / known, 4),
      running_hours: rounded(runningMs / HOUR_MS, 2),
      interruptions,
      cost: toDollars(nanos((priceNanos * BigInt(Math.round(runningMs))) / BigInt(HOUR_MS))),
    };
  };
  return {
    from: range.fromMs / 1000,
    to: range.untilMs / 1000,
    known_hours: rounded(known / HOUR_MS, 2),
    lowest_now: orNull(stretches.at(-1)?.floorNanos),
    at_price: price === undefined ? null : outcome(price),
    ladder: priceLadder(stretches, RUNGS_MAX).map(outcome),
    points: floorPoints(stretches, range, HOUR_MS).map((point) => ({
      at: point.atMs / 1000,
      lowest: orNull(point.lowestNanos),
      highest: orNull(point.highestNanos),
      open_share: rounded(point.openShare, 4),
    })),
  };
}

const orNull = (amount: bigint | undefined) => (amount === undefined ? null : toDollars(amount));

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
