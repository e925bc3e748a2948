import { AppError, gone, notFound } from "../../../../base/errors.ts";
import { invariant } from "../../../../base/invariant.ts";
import { formatDollars, toDollars } from "../../../../base/money.ts";
import type { HoldOutcome } from "../../../money/ledger/index.ts";
import { termsOf, worsenings, type KnownOffer, type MachineState } from "../../../supply/market/index.ts";
import type { Candidate, CreateOutcome } from "./candidate.ts";
import { refuseHold } from "./hold-refusal.ts";
import { holdAmount } from "../rules/pricing.ts";

/** Why an order got nothing; each names the offer it was for. */
export function noSuchAsk(offerId: number): AppError {
  return notFound("invalid_args", `no_such_ask Instance type by id ${offerId} is not available.`, {
    extra: { ask_id: offerId },
  });
}

export function askIsGone(offerId: number, internal: Readonly<Record<string, unknown>> = {}): AppError {
  return gone("no_such_ask", `Offer ${offerId} is no longer available.`, { extra: { ask_id: offerId }, internal });
}

/** The same of an offer that is retired: it never comes back. */
export function askIsUsedUp(offerId: number): AppError {
  return askIsGone(offerId, { isUsedUp: true });
}

/** Whether the offer of an order is retired, once its outcome is committed. */
export function isUsedUp(outcome: CreateOutcome): boolean {
  return outcome instanceof AppError ? outcome.internal["isUsedUp"] === true : true;
}

/**
 * The offer's terms became worse since it was shown, so it is not rented by this id. Says what changed, and which offer of
 * the machine has the same size at which price now.
 */
export function askIsReplaced({ id, deviceCount, terms }: KnownOffer, { machine, offers }: MachineState): AppError {
  const changes = worsenings(terms, termsOf(machine));
  const changed = changes.length === 0 ? "its terms changed" : changes.join(", and ");
  const successor = offers.find((offer) => offer.deviceCount === deviceCount);
  const price = machine.priceDeviceNanosPerHour * BigInt(deviceCount);
  const instead =
    successor === undefined
      ? `Its machine offers nothing of this size now.`
      : `Offer ${successor.id} is of the same size on the same machine and costs $${formatDollars(price)} an hour without storage.`;
  return gone("no_such_ask", `Offer ${id} is no longer available: ${changed}. ${instead}`, {
    extra: { ask_id: id, ...(successor && { new_ask_id: successor.id, dph_base: toDollars(price) }) },
    internal: { isRetired: true },
  });
}

/** Whether the outcome shows that the offer is retired, for whichever reason. */
export function isRetired(outcome: CreateOutcome): boolean {
  return isUsedUp(outcome) || (outcome instanceof AppError && outcome.internal["isRetired"] === true);
}

/** The offer is there, at another price than the order allows. */
export function notAtThisPrice(offerId: number, message: string): AppError {
  return gone("no_such_ask", message, { extra: { ask_id: offerId } });
}

/** The offer and its disk cost more an hour than is to be paid at most. */
export function costsTooMuch(
  offerId: number,
  { total, most }: { readonly total: bigint; readonly most: bigint },
): AppError {
  const costs = `Offer ${offerId} costs $${formatDollars(total)} an hour with its disk`;
  return notAtThisPrice(offerId, `${costs}, and this order pays at most $${formatDollars(most)}.`);
}

/** Nobody can set aside what it needs, of the balance or of a cap. */
export function unpayable({ order, instance }: Candidate, hold: HoldOutcome | undefined): AppError {
  invariant(hold?.kind === "insufficient", "each hold has its outcome");
  return refuseHold(hold, { what: "this rental", amount: holdAmount(instance), extra: { ask_id: order.offerId } });
}
