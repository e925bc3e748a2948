import type { UserId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";
import { findDefaultCard, listDefaultCards } from "./cards/card-store.ts";
import { findPayoutMethod, listUsersPaidOut } from "./payouts/payout-method-store.ts";

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

/** The same facts of many users; users without a card and a payout method are left out. */
export async function readPaymentSummaries(
  db: Reader,
  userIds: readonly UserId[],
): Promise<ReadonlyMap<UserId, PaymentSummary>> {
  if (userIds.length === 0) return new Map();
  const [cards, paid] = [await listDefaultCards(db, userIds), await listUsersPaidOut(db, userIds)];
  const known = userIds.filter((id) => cards.has(id) || paid.has(id));
  return new Map(known.map((id) => [id, { last4: cards.get(id), hasPayoutMethod: paid.has(id) }]));
}
