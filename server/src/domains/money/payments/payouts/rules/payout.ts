import { mulDivFloor, nanos, NANOS_PER_DOLLAR, type Nanos } from "../../../../../base/money.ts";
import { NANOS_PER_CENT } from "../../rules/cents.ts";

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
/** 1970 began on a Thursday. */
const FIRST_FRIDAY_MS = DAY_MS;
const PPM = 1_000_000n;

/** Less than this is not sent: it stays with the earnings until there is more. */
export const PAYOUT_MINIMUM = nanos(20n * NANOS_PER_DOLLAR);
/** From the invoice to the payment: until then it can be looked at, and objected to. */
export const PAYOUT_DELAY_MS = WEEK_MS;

/** The last Friday, 00:00 UTC, that is not after `now`. */
export function fridayOf(now: Date): Date {
  const sinceMs = now.getTime() - FIRST_FRIDAY_MS;
  return new Date(FIRST_FRIDAY_MS + Math.floor(sinceMs / WEEK_MS) * WEEK_MS);
}

/** What the house keeps of what was earned; nothing of what was lost. */
export function feeOf(earned: bigint, feePpm: number): Nanos {
  return nanos(earned <= 0n ? 0n : mulDivFloor(earned, BigInt(feePpm), PPM));
}

/** Names the transfer of one step, counted from 1, in which a payout came back. */
export function returnedKey(payoutId: number, stepNumber: number): string {
  return stepNumber === 1 ? `payout_returned:${payoutId}` : `payout_returned:${payoutId}:${stepNumber}`;
}

export type PayoutPlan =
  | { readonly kind: "roll_over" }
  | {
      readonly kind: "pay";
      /** Since the invoice before; negative when more was given back to renters than earned. */
      readonly earned: bigint;
      readonly fee: Nanos;
      readonly amount: Nanos;
      /** Of what is left in the earnings, the part whose fee has been taken. */
      readonly settledAfter: bigint;
    };

/**
 * What one host is paid of its earnings. `settled` is the part of the balance whose fee was taken before, so that each
 * nano-dollar bears the fee once; what was given back to renters lessens what the next invoices count as earned.
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
