import type { UserId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";
import { findDefaultCard } from "./cards/card-store.ts";
import { findPayoutMethod } from "./payouts/payout-method-store.ts";

/** A user's cards and payouts, as the user's own record shows them. */
export type PaymentSummary = {
  /** The last four digits of the default card; undefined when no card is saved. */
  readonly last4: string | undefined;
  readonly hasPayoutMethod: boolean;
};

export async function readPaymentSummary(db: Reader, userId: UserId): Promise<PaymentSummary> {
  const [card, method] = await Promise.all([findDefaultCard(db, userId), findPayoutMethod(db, userId)]);
  return { last4: card?.last4, hasPayoutMethod: method !== undefined };
}
