import { invariant } from "../../../../base/invariant.ts";
import type { Log } from "../../../../base/log.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { lockDeposits } from "../../deposits/index.ts";
import { creditOf, postTransfer, STRIPE } from "../../ledger/index.ts";
import { listRunsOf } from "../../charging/index.ts";
import { postNotices } from "../../../notifications/index.ts";
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
 * Gives a user the credit that was paid for, once for each movement of money, however many events and answers tell of it.
 * Money that is not what was asked for is left alone, with an alarm: an administrator looks.
 */
export async function settleReceived(tx: Tx, log: Log, received: Received): Promise<void> {
  await lockIntent(tx, received.intentId);
  const payment = await lockOrder(tx, received);
  // Of another installation, or of something else that its owner sells through the same account.
  if (payment === undefined) return;
  const { intentId, amountCents, currency } = received;
  const about = { payment_id: payment.id, user_id: payment.userId, intent_id: intentId };
  if (payment.amountCents !== amountCents || currency !== CURRENCY) {
    const told = { ...about, asked_cents: String(payment.amountCents), paid_cents: String(amountCents), currency };
    tx.afterCommit(() => log.error(told, "a payment is not what was asked for, and was not credited"));
    if (payment.state === "paid") return;
    await settlePayment(tx, payment.id, { state: "mismatched", intentId, failure: "not what was asked for" });
    return;
  }
  // It may have gone back before it came. What that is taken from then is locked before the accounts of the ledger.
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
    // The money is the user's all the same.
    tx.afterCommit(() => log.error(about, "one payment was paid twice"));
    return;
  }
  await settlePayment(tx, payment.id, { state: "paid", intentId, failure: undefined });
  if (payment.kind === "autobill") await storeAutobill(tx, payment.userId, { failureCount: 0, notBeforeAt: null });
  await postNotices(tx, [
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

/**
 * The payment of this database that an event or answer is about, and its user's account; both locked, the account first,
 * as everywhere.
 */
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
