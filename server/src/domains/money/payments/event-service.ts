import { unreachable } from "../../../base/invariant.ts";
import { withTransaction, type Tx } from "../../../db/transaction.ts";
import { findUserOfCustomer, lockAccount, markStale } from "./account-store.ts";
import { failAutobill } from "./cards/autobill-service.ts";
import { findUserOfMethod, noteDetached, upsertCard } from "./cards/card-store.ts";
import type { PaymentDependencies } from "./dependencies.ts";
import { findPaymentOfIntent, insertEvent, lockIntent, settlePayment } from "./top-ups/payment-store.ts";
import type { EventContent, OrderRef } from "./provider/provider.ts";
import { takeBackPayout } from "./payouts/payout-service.ts";
import { noteReturn } from "./refunds/return-store.ts";
import { bookReturns } from "./refunds/returned-service.ts";
import { lockOrder, settleReceived } from "./top-ups/received-service.ts";

/**
 * Applies an event of the provider. Its effect commits together with its id, so that a repetition changes nothing; a
 * failed event is delivered again. Throws `invalid_signature` when the provider did not sign it within the tolerance.
 */
export async function receiveEvent(
  dependencies: PaymentDependencies,
  rawBody: Buffer,
  signature: string,
): Promise<void> {
  const { database, clock, provider } = dependencies;
  const { id, type, content } = await provider.parseWebhook(rawBody, signature, clock.now());
  if (content.kind === "ignored") return;
  await withTransaction(database, clock, async (tx) => {
    if (await insertEvent(tx, { id, type })) await applyEvent(tx, dependencies, content);
  });
}

async function applyEvent(tx: Tx, { log }: PaymentDependencies, content: EventContent): Promise<void> {
  switch (content.kind) {
    case "money_received":
      return settleReceived(tx, log, content);
    case "charge_failed": {
      const payment = await lockOrder(tx, content);
      // A page lets its user try again; an automatic charge is a single attempt.
      if (payment?.kind === "autobill") await failAutobill(tx, payment, content);
      return;
    }
    case "page_left":
      return leavePage(tx, content);
    case "setup_done":
      return finishSetup(tx, content);
    case "money_returned": {
      await lockIntent(tx, content.intentId);
      await noteReturn(tx, content);
      const payment = await lockOrder(tx, { order: undefined, intentId: content.intentId });
      if (payment?.state !== "paid") return;
      return bookReturns(tx, log, { intentId: content.intentId, userId: payment.userId, paymentId: payment.id });
    }
    case "return_failed": {
      const payment = await findPaymentOfIntent(tx.db, content.intentId);
      if (payment === undefined) return;
      // A person has to ask the user where the money should go instead.
      const { reference: refund_id, failedCents } = content;
      const about = { payment_id: payment.id, user_id: payment.userId, refund_id, failed_cents: String(failedCents) };
      tx.afterCommit(() => log.error(about, "a refund did not reach its card: the house still has the user's money"));
      return;
    }
    case "payout_returned":
      return takeBackPayout(tx, content);
    case "card_saved": {
      const userId = await findUserOfCustomer(tx.db, content.customerId);
      if (userId === undefined) return;
      await lockAccount(tx, userId);
      await upsertCard(tx, userId, content.card);
      // The card may be gone already: the event of its removal can arrive first.
      return markStale(tx, userId);
    }
    case "card_gone": {
      const userId = await findUserOfMethod(tx.db, content.methodId);
      if (userId === undefined) return;
      await lockAccount(tx, userId);
      return noteDetached(tx, content.methodId);
    }
    case "ignored":
      return;
    default:
      return unreachable(content);
  }
}

async function leavePage(
  tx: Tx,
  { order, reason }: { readonly order: OrderRef | undefined; readonly reason: "expired" | "failed" },
): Promise<void> {
  const payment = await lockOrder(tx, { order });
  if (payment?.state !== "pending") return;
  await settlePayment(tx, payment.id, { state: reason, intentId: undefined, failure: `the page ${reason}` });
}

/**
 * Notes that a card may have been saved. An event of its own reports the card; a loop asks for it in case that one is
 * lost.
 */
async function finishSetup(
  tx: Tx,
  { order, customerId }: { readonly order: OrderRef | undefined; readonly customerId: string | undefined },
): Promise<void> {
  const payment = await lockOrder(tx, { order });
  if (payment === undefined || customerId === undefined) return;
  if (payment.state === "pending") {
    await settlePayment(tx, payment.id, { state: "paid", intentId: undefined, failure: undefined });
  }
  await lockAccount(tx, payment.userId);
  await markStale(tx, payment.userId);
}
