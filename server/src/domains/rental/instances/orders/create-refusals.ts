import { AppError, gone, notFound } from "../../../../base/errors.ts";
import { invariant } from "../../../../base/invariant.ts";
import { formatDollars, toDollars } from "../../../../base/money.ts";
import type { HoldOutcome } from "../../../money/ledger/for-instances.ts";
import { termsOf, worsenings, type KnownOffer, type MachineState } from "../../../supply/market/for-instances.ts";
import type { Candidate, CreateOutcome } from "./candidate.ts";
import { refuseHold } from "./hold-refusal.ts";
import { holdAmount } from "../rules/pricing.ts";

/** Refusals of orders; each names the offer of the order. */
export function noSuchAsk(offerId: number): AppError {
  return notFound("invalid_args", `no_such_ask Instance type by id ${offerId} is not available.`, {
    extra: { ask_id: offerId },
  });
}

export function askIsGone(offerId: number, internal: Readonly<Record<string, unknown>> = {}): AppError {
  return gone("no_such_ask", `Offer ${offerId} is no longer available.`, { extra: { ask_id: offerId }, internal });
}

/** The refusal for an offer that is retired and never comes back. */
export function askIsUsedUp(offerId: number): AppError {
  return askIsGone(offerId, { isUsedUp: true });
}

/** True when the offer of an order is retired once this outcome is committed. */
export function isUsedUp(outcome: CreateOutcome): boolean {
  return outcome instanceof AppError ? outcome.internal["isUsedUp"] === true : true;
}

/**
 * Refuses an offer whose terms became worse since it was shown. Says what changed, and which offer of the machine has
 * the same size at which price now.
 */
export function askIsReplaced({ id, deviceCount, terms }: KnownOffer, { machine, offers }: MachineState): AppError {
  const changes = worsenings(terms, termsOf(machine));
  const changed = changes.length === 0 ? "its terms changed" : changes.join(", and ");
  const successor = offers.find((offer) => offer.deviceCount === deviceCount);
  const price = machine.priceDeviceNanosPerHour * BigInt(deviceCount);
  const instead =
    successor === undefined
      ? `Its machine has no offer of this size now.`
      : `Offer ${successor.id} is of the same size on the same machine and costs $${formatDollars(price)} an hour without storage.`;
  return gone("no_such_ask", `Offer ${id} is no longer available: ${changed}. ${instead}`, {
    extra: { ask_id: id, ...(successor && { new_ask_id: successor.id, dph_base: toDollars(price) }) },
    internal: { isRetired: true },
  });
}

/** True when the outcome shows that the offer is retired, for any reason. */
export function isRetired(outcome: CreateOutcome): boolean {
  return isUsedUp(outcome) || (outcome instanceof AppError && outcome.internal["isRetired"] === true);
}

/** The refusal when the offer exists at another price than the order allows. */
export function notAtThisPrice(offerId: number, message: string): AppError {
  return gone("no_such_ask", message, { extra: { ask_id: offerId } });
}

/** The refusal when the offer and its disk cost more than the order's limit. */
export function costsTooMuch(
  offerId: number,
  { total, most }: { readonly total: bigint; readonly most: bigint },
): AppError {
  const costs = `Offer ${offerId} costs $${formatDollars(total)} an hour with its disk`;
  return notAtThisPrice(offerId, `${costs}, and this order pays at most $${formatDollars(most)}.`);
}

/** The refusal when the balance or a cap leaves too little to set aside. */
export function unpayable({ order, instance }: Candidate, hold: HoldOutcome | undefined): AppError {
  invariant(hold?.kind === "insufficient", "each hold has its outcome");
  return refuseHold(hold, { what: "this rental", amount: holdAmount(instance), extra: { ask_id: order.offerId } });
}
