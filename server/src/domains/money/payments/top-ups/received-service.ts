import { invariant } from "../../../../base/invariant.ts";
import type { Log } from "../../../../base/log.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { lockDeposits } from "../../deposits/index.ts";
import { creditOf, postTransfer } from "../../ledger/index.ts";
import { STRIPE } from "../../ledger/for-payments.ts";
import { listRunsOf } from "../../charging/index.ts";
import { postNotifications } from "../../../notifications/index.ts";
import { lockAccount, storeAutobill } from "../account-store.ts";
import { centsText, nanosOfCents } from "../rules/cents.ts";
import { CURRENCY, type OrderRef } from "../provider/provider.ts";
import {
  findPayment,
  findPaymentOfIntent,
  lockIntent,
  lockPayment,
  settlePayment,
  type Payment,
} from "./payment-store.ts";
import { paymentKey } from "../refunds/rules/return-keys.ts";
import { lockReturns } from "../refunds/return-store.ts";
import { bookReturns } from "../refunds/returned-service.ts";
import { readInstallation } from "../rules-store.ts";

export type Received = {
  readonly intentId: string;
  readonly order: OrderRef | undefined;
  readonly amountCents: bigint;
  readonly currency: string;
};

/**
 * Credits a user for a payment, once for each payment intent, however many events and answers report it. Money that
 * differs from the request is not credited; a log line alarms the operator.
 */
export async function settleReceived(tx: Tx, log: Log, received: Received): Promise<void> {
  await lockIntent(tx, received.intentId);
  const payment = await lockOrder(tx, received);
  // The payment belongs to another installation, or to something else that is sold through the same Stripe account.
  if (payment === undefined) return;
  const { intentId, amountCents, currency } = received;
  const about = { payment_id: payment.id, user_id: payment.userId, intent_id: intentId };
  if (payment.amountCents !== amountCents || currency !== CURRENCY) {
    const told = { ...about, asked_cents: String(payment.amountCents), paid_cents: String(amountCents), currency };
    tx.afterCommit(() => log.error(told, "a payment differs from its request and was not credited"));
    if (payment.state === "paid") return;
    await settlePayment(tx, payment.id, {
      state: "mismatched",
      intentId,
      failure: "the amount or currency differs from the request",
    });
    return;
  }
  // The payment may have gone back before it was reported. What is taken then is locked before the ledger's accounts.
  if ((await lockReturns(tx, intentId)).length > 0) {
    const runs = await listRunsOf(tx.db, payment.userId);
    await lockDeposits(
      tx,
      [payment.userId],
      runs.map(({ id }) => id),
    );
  }
  const outcome = await postTransfer(tx, {
    key: paymentKey(intentId),
    debit: STRIPE,
    credit: creditOf(payment.userId),
    amount: nanosOfCents(amountCents),
    code: "payment",
    cause: { payment_id: payment.id, provider: "stripe" },
    description: payment.kind === "autobill" ? "Automatic card payment" : "Card payment",
  });
  if (outcome.kind === "exists") return;
  invariant(outcome.kind === "posted", `money that was paid could not be credited: ${outcome.kind}`);
  if (payment.state === "paid") {
    // The second payment is the user's money as well.
    tx.afterCommit(() => log.error(about, "one payment was paid twice"));
    return;
  }
  await settlePayment(tx, payment.id, { state: "paid", intentId, failure: undefined });
  if (payment.kind === "autobill") await storeAutobill(tx, payment.userId, { failureCount: 0, notBeforeAt: null });
  await postNotifications(tx, [
    {
      userId: payment.userId,
      kind: "client:payment_receipt",
      subject: `Payment of ${centsText(amountCents)} received`,
      message: `Your payment ${payment.id} of ${centsText(amountCents)} was received and added to your credit.`,
      key: `payment_receipt:${payment.id}`,
    },
  ]);
  await bookReturns(tx, log, { intentId, userId: payment.userId, paymentId: payment.id });
}

/** Locks the payment that an event or answer is about, and its user's account; the account first, as everywhere. */
export async function lockOrder(
  tx: Tx,
  { order, intentId }: { readonly order: OrderRef | undefined; readonly intentId?: string },
): Promise<Payment | undefined> {
  const found = await findOrder(tx, order, intentId);
  if (found === undefined) return undefined;
  await lockAccount(tx, found.userId);
  return lockPayment(tx, found.id);
}

async function findOrder(tx: Tx, order: OrderRef | undefined, intentId: string | undefined) {
  if (order === undefined) return intentId === undefined ? undefined : findPaymentOfIntent(tx.db, intentId);
  if (order.installation !== (await readInstallation(tx.db))) return undefined;
  return findPayment(tx.db, order.paymentId);
}
