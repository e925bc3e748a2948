import { mulDivFloor, nanos, SECONDS_PER_HOUR, type Nanos } from "../../../../base/money.ts";

const MS_PER_SECOND = 1000n;
const MS_PER_HOUR = SECONDS_PER_HOUR * MS_PER_SECOND;
const PPM = 1_000_000n;

/** A stretch of the running time that a run has counted, in milliseconds. */
export type Stretch = { readonly fromMs: bigint; readonly toMs: bigint };

/** The price of a stretch of running time: its share of the hourly price, rounded down in favour of the renter. */
export function runningCharge(priceNanosPerHour: bigint, { fromMs, toMs }: Stretch): Nanos {
  return nanos(mulDivFloor(priceNanosPerHour, toMs - fromMs, MS_PER_HOUR));
}

export type DepositShare = {
  /** The point up to which the deposit pays; other means pay the rest of the stretch. */
  readonly toMs: bigint;
  readonly amount: Nanos;
  /** The price of the same time without the discount, less the price that was charged. */
  readonly savedNanos: Nanos;
  /** True when the remainder does not pay another millisecond. */
  readonly isSpent: boolean;
};

/** The part of a stretch that a deposit pays: whole milliseconds at the discount, until it is used up. */
export function depositShare(
  { leftNanos, discountPpm, priceNanosPerHour }: Terms & { readonly leftNanos: bigint },
  { fromMs, toMs }: Stretch,
): DepositShare {
  // Nano-dollars for 10⁶ hours of running time, so that rounding happens only at the end.
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
