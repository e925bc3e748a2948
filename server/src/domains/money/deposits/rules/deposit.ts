import { mulDivFloor, nanos, SECONDS_PER_HOUR, SECONDS_PER_MONTH, type Nanos } from "../../../../base/money.ts";

const PPM = 1_000_000n;
/**
 * The unit of discounts while they are computed: 10⁻¹², in which a straight line between two vertices has no fractions.
 */
const FINE = PPM * PPM;
/**
 * The months between which the discount is a straight line, which begins at 0 months and 0 discount; after the last it
 * stays.
 */
const VERTICES = [1, 3, 5] as const;
/** The largest discount. Beyond a half, prepaying more could cost less. */
export const DISCOUNT_MAX_PERMILLE = 500;
/** The fee for an early end, as a part of the discount that is given back. */
const FEE_PERCENT = 5n;

const MS_PER_MICRO_MONTH = (SECONDS_PER_MONTH * 1000n) / PPM;
/** Ten thousand years in millionths of a month: longer than any rental. */
const MICRO_MONTHS_MAX = 120_000n * PPM;

/** The discount in millionths for a number of months: market/discount.ts for one host. */
export type DiscountCurve = (months: number) => number;

/** The time that an amount lasts, in millionths of a month, and the discount meanwhile. */
export type Reservation = { readonly microMonths: bigint; readonly discountPpm: number };

/** The price of a month of running, without a discount. */
export function monthPrice(priceNanosPerHour: bigint): bigint {
  return (priceNanosPerHour * SECONDS_PER_MONTH) / SECONDS_PER_HOUR;
}

/**
 * The time that `amount` lasts at the discount that this length of time earns: the largest t with t × month × (1 −
 * discount(t)) ≤ amount, to the nano-dollar.
 */
export function reservationOf(amount: bigint, month: bigint, curve: DiscountCurve): Reservation {
  const discount = exactly(curve);
  let low = 0n;
  let high = MICRO_MONTHS_MAX;
  while (low < high) {
    const middle = (low + high + 1n) / 2n;
    if (costOf(middle, month, discount) <= amount) low = middle;
    else high = middle - 1n;
  }
  return { microMonths: low, discountPpm: Number(discount(low) / PPM) };
}

/**
 * The largest deposit that can be used within this time, in whole millionths of a month. More would leave a rest when
 * the time is over.
 */
export function largestDeposit(untilMs: bigint, month: bigint, curve: DiscountCurve): bigint {
  if (untilMs <= 0n) return 0n;
  return costOf(untilMs / MS_PER_MICRO_MONTH, month, exactly(curve));
}

function costOf(microMonths: bigint, month: bigint, discount: (microMonths: bigint) => bigint): bigint {
  return mulDivFloor(month * microMonths, FINE - discount(microMonths), PPM * FINE);
}

/** The curve in 10⁻¹² for every millionth of a month, without rounding. */
function exactly(curve: DiscountCurve): (microMonths: bigint) => bigint {
  const vertices = VERTICES.map((months) => ({ at: BigInt(months) * PPM, fine: BigInt(curve(months)) * PPM }));
  return (microMonths) => {
    let from = { at: 0n, fine: 0n };
    for (const to of vertices) {
      if (microMonths <= to.at) {
        return from.fine + ((microMonths - from.at) * (to.fine - from.fine)) / (to.at - from.at);
      }
      from = to;
    }
    return from.fine;
  };
}

export type Refund = {
  readonly toRenter: Nanos;
  /** The discount that is given back to the host. */
  readonly toHost: Nanos;
  readonly fee: Nanos;
};

/**
 * The division of the rest of a deposit when its rental is over. A renter who ends early gives back the discount so
 * far, and 5 % of it as a fee, as far as the deposit has it; the whole rest is the renter's when a promise to them was
 * broken.
 */
export function refundOf({
  leftNanos,
  atStakeNanos,
  isWhole,
}: {
  readonly leftNanos: bigint;
  readonly atStakeNanos: bigint;
  readonly isWhole: boolean;
}): Refund {
  if (isWhole) return { toRenter: nanos(leftNanos), toHost: nanos(0n), fee: nanos(0n) };
  const toHost = least(atStakeNanos, leftNanos);
  const fee = least(mulDivFloor(atStakeNanos, FEE_PERCENT, 100n), leftNanos - toHost);
  return { toRenter: nanos(leftNanos - toHost - fee), toHost: nanos(toHost), fee: nanos(fee) };
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

/** The months that the rest of a deposit still lasts, with a fraction. */
export function monthsLeft(leftNanos: bigint, month: bigint, discountPpm: number): number {
  const discounted = month * (PPM - BigInt(discountPpm));
  return discounted === 0n ? 0 : Number(mulDivFloor(leftNanos, PPM * PPM, discounted)) / Number(PPM);
}

/** The silence of a machine, in milliseconds, from which on its host's promise counts as broken. */
const SILENT_MS_MAX = 3_600_000;

export type Standing = {
  /** True when the host ended the rental before its end date. */
  readonly isEndedByHost: boolean;
  readonly verification: "verified" | "unverified" | "deverified";
  /** True when the host withdrew the machine, or its agent may not come back. */
  readonly isWithdrawn: boolean;
  /** Milliseconds since the machine was last heard of; 0 while it is connected. */
  readonly silentMs: number;
};

/** True when the machine or its host did not keep the promise to a renter who prepaid. */
export function isPromiseBroken({ isEndedByHost, verification, isWithdrawn, silentMs }: Standing): boolean {
  return isEndedByHost || verification === "deverified" || isWithdrawn || silentMs >= SILENT_MS_MAX;
}
