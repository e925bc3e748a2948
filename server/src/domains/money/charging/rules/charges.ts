import { mulDivFloor, nanos, SECONDS_PER_HOUR, type Nanos } from "../../../../base/money.ts";

const MS_PER_SECOND = 1000n;
const MS_PER_HOUR = SECONDS_PER_HOUR * MS_PER_SECOND;
const PPM = 1_000_000n;

/** A part of what a run has counted. */
export type Stretch = { readonly fromMs: bigint; readonly toMs: bigint };

/** What a stretch of running costs: the price of an hour by its share, rounded towards the customer. */
export function runningCharge(priceNanosPerHour: bigint, { fromMs, toMs }: Stretch): Nanos {
  return nanos(mulDivFloor(priceNanosPerHour, toMs - fromMs, MS_PER_HOUR));
}

export type DepositShare = {
  /** The deposit pays up to here; the rest of the stretch is paid otherwise. */
  readonly toMs: bigint;
  readonly amount: Nanos;
  /** What the same time would have cost without the discount, less what it did cost. */
  readonly savedNanos: Nanos;
  /** What is left does not pay for another millisecond. */
  readonly isSpent: boolean;
};

/** What a deposit pays of a stretch: whole milliseconds at the discount, as long as it lasts. */
export function depositShare(
  { leftNanos, discountPpm, priceNanosPerHour }: Terms & { readonly leftNanos: bigint },
  { fromMs, toMs }: Stretch,
): DepositShare {
  // Nano-dollars for 10⁶ hours of running, so that nothing is rounded before the end.
  const price = priceNanosPerHour * (PPM - BigInt(discountPpm));
  const scale = MS_PER_HOUR * PPM;
  const lastsMs = price === 0n ? toMs - fromMs : (leftNanos * scale) / price;
  const endMs = fromMs + lastsMs < toMs ? fromMs + lastsMs : toMs;
  const amount = nanos(mulDivFloor(price, endMs - fromMs, scale));
  return {
    toMs: endMs,
    amount,
    savedNanos: nanos(runningCharge(priceNanosPerHour, { fromMs, toMs: endMs }) - amount),
    isSpent: endMs < toMs || (leftNanos - amount) * scale < price,
  };
}

type Terms = { readonly priceNanosPerHour: bigint; readonly discountPpm: number };
