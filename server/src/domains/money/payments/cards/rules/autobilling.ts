import type { Nanos } from "../../../../../base/money.ts";
import { NANOS_PER_CENT } from "../../rules/cents.ts";

const HOUR_MS = 3_600_000;

/** What is charged each time unless the user chose another amount: this, or the threshold itself when that is more. */
const AUTOBILL_CENTS_DEFAULT = 2_500n;
/** After the first, second and third failure in a row; after the next one it is switched off. */
const RETRY_DELAYS_MS = [HOUR_MS, 6 * HOUR_MS, 24 * HOUR_MS] as const;
/** Providers forget the key of a request after a day: from then on a repetition could charge once more. */
export const REPEATABLE_FOR_MS = 20 * HOUR_MS;

/** How much a card is charged: by default enough to come from nothing to above the threshold. */
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

/** What to do after so many failures in a row, the latest one included. */
export function afterFailure(failureCount: number, now: Date): AfterFailure {
  const delayMs = RETRY_DELAYS_MS[failureCount - 1];
  return delayMs === undefined ? { kind: "off" } : { kind: "retry", at: new Date(now.getTime() + delayMs) };
}

/** From when on another card may be charged after a charge of which nobody knows whether it was made: an event tells soon. */
export function afterGivingUp(now: Date): Date {
  return new Date(now.getTime() + HOUR_MS);
}
