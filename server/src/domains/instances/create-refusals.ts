import { AppError, gone, notFound } from "../../base/errors.ts";
import type { CreateOutcome } from "./create.ts";

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

/** It is there, at another price. */
export function notAtThisPrice(offerId: number, message: string): AppError {
  return gone("no_such_ask", message, { extra: { ask_id: offerId } });
}
