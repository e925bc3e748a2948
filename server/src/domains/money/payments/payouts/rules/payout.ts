import { mulDivFloor, nanos, NANOS_PER_DOLLAR, type Nanos } from "../../../../../base/money.ts";
import { NANOS_PER_CENT } from "../../rules/cents.ts";

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
/** The first Friday, in milliseconds since 1970, which began on a Thursday. */
const FIRST_FRIDAY_MS = DAY_MS;
const PPM = 1_000_000n;

/** Minimum of a payout; smaller amounts stay in the earnings until there is more. */
export const PAYOUT_MINIMUM = nanos(20n * NANOS_PER_DOLLAR);
/** Time from the invoice to the payment, during which the host can object. */
export const PAYOUT_DELAY_MS = WEEK_MS;

/** The last Friday, 00:00 UTC, at or before `now`. */
export function fridayOf(now: Date): Date {
  const sinceMs = now.getTime() - FIRST_FRIDAY_MS;
  return new Date(FIRST_FRIDAY_MS + Math.floor(sinceMs / WEEK_MS) * WEEK_MS);
}

/** The fee of the house on earnings, rounded down in favour of the host; zero for a loss. */
export function feeOf(earned: bigint, feePpm: number): Nanos {
  return nanos(earned <= 0n ? 0n : mulDivFloor(earned, BigInt(feePpm), PPM));
}

/** The key of the transfer by which a payout came back in one step; steps count from 1. */
export function returnedKey(payoutId: number, stepNumber: number): string {
  return stepNumber === 1 ? `payout_returned:${payoutId}` : `payout_returned:${payoutId}:${stepNumber}`;
}

export type PayoutPlan =
  | { readonly kind: "roll_over" }
  | {
      readonly kind: "pay";
      /** Earnings since the invoice before; negative when more went back to renters than was earned. */
      readonly earned: bigint;
      readonly fee: Nanos;
      readonly amount: Nanos;
      /** The part of the remaining earnings whose fee has been taken. */
      readonly settledAfter: bigint;
    };

/**
 * Plans the payout of one host. `settled` is the part of the balance whose fee was taken before, so that each
 * nano-dollar bears the fee once. Amounts that went back to renters reduce the earnings of the next invoices.
 */
export function planPayout({
  balance,
  settled,
  feePpm,
}: {
  readonly balance: Nanos;
  readonly settled: bigint;
  readonly feePpm: number;
}): PayoutPlan {
  const earned = balance - settled;
  const fee = feeOf(earned, feePpm);
  const payable = balance - fee;
  const amount = nanos(payable - (payable % NANOS_PER_CENT));
  if (amount < PAYOUT_MINIMUM) return { kind: "roll_over" };
  const deficit = earned < 0n ? -earned : 0n;
  return { kind: "pay", earned, fee, amount, settledAfter: payable - amount + deficit };
}
