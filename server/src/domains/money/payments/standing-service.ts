import type { UserId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";
import { findDefaultCard } from "./cards/card-store.ts";
import { findPayoutMethod } from "./payouts/payout-method-store.ts";

/** What a user's own record says of cards and payouts. */
export type PaymentStanding = {
  /** Of the card that is charged; undefined when none is saved. */
  readonly last4: string | undefined;
  readonly hasPayoutMethod: boolean;
};

export async function readPaymentStanding(db: Reader, userId: UserId): Promise<PaymentStanding> {
  const [card, method] = await Promise.all([findDefaultCard(db, userId), findPayoutMethod(db, userId)]);
  return { last4: card?.last4, hasPayoutMethod: method !== undefined };
}
