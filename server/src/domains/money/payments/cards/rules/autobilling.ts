import type { Nanos } from "../../../../../base/money.ts";
import { NANOS_PER_CENT } from "../../rules/cents.ts";

const HOUR_MS = 3_600_000;

/** The default amount of a charge, in cents; the threshold itself when that is more. */
const AUTOBILL_CENTS_DEFAULT = 2_500n;
/** Delays after the first, second and third failure in a row; the fourth switches automatic payments off. */
const RETRY_DELAYS_MS = [HOUR_MS, 6 * HOUR_MS, 24 * HOUR_MS] as const;
/**
 * Time for which a request may be repeated: providers forget its key after a day, and a later repetition could charge
 * twice.
 */
export const REPEATABLE_FOR_MS = 20 * HOUR_MS;

/** The amount to charge, in cents; by default enough to bring a balance of zero above the threshold. */
export function chargeCents({
  chosenCents,
  threshold,
}: {
  readonly chosenCents: bigint | undefined;
  readonly threshold: Nanos;
}): bigint {
  if (chosenCents !== undefined) return chosenCents;
  const thresholdCents = threshold / NANOS_PER_CENT;
  return thresholdCents > AUTOBILL_CENTS_DEFAULT ? thresholdCents : AUTOBILL_CENTS_DEFAULT;
}

export type AfterFailure = { readonly kind: "retry"; readonly at: Date } | { readonly kind: "off" };

/** The next step after this many failures in a row, the latest one included. */
export function afterFailure(failureCount: number, now: Date): AfterFailure {
  const delayMs = RETRY_DELAYS_MS[failureCount - 1];
  return delayMs === undefined ? { kind: "off" } : { kind: "retry", at: new Date(now.getTime() + delayMs) };
}

/** The time from which another card may be charged after a charge with an unknown outcome: an event reports it soon. */
export function afterGivingUp(now: Date): Date {
  return new Date(now.getTime() + HOUR_MS);
}
