import { AppError, conflict, invalid, notFound } from "../../../../base/errors.ts";
import type { PaymentId } from "../../../../base/ids.ts";
import { parseDollars } from "../../../../base/money.ts";
import { withTransaction, type Tx } from "../../../../db/transaction.ts";
import { readBalance } from "../../charging/index.ts";
import { lockAccount } from "../account-store.ts";
import { REPEATABLE_FOR_MS } from "../cards/rules/autobilling.ts";
import { centsText, nanosOfCents, wholeCentsOf } from "../rules/cents.ts";
import type { PaymentDependencies } from "../dependencies.ts";
import { inParallel } from "../provider/in-parallel.ts";
import { findPayment, lockPayment } from "../top-ups/payment-store.ts";
import type { RefundResult } from "../provider/provider.ts";
import {
  claimRefunds,
  insertRefund,
  settleRefund,
  sumRefunds,
  sumUnbookedRefunds,
  type WantedRefund,
} from "./refund-store.ts";
import { readInstallation } from "../rules-store.ts";

const PER_RUN = 20;

/**
 * Stores that a payment is to be refunded, wholly or in part; a loop asks the provider. Spent credit is not refunded.
 * Returns the cents.
 */
export async function wantRefund(
  tx: Tx,
  { paymentId, amount }: { readonly paymentId: PaymentId; readonly amount: number | undefined },
): Promise<bigint> {
  const found = await findPayment(tx.db, paymentId);
  if (found === undefined || found.kind === "setup")
    throw notFound("no_such_payment", `There is no payment ${paymentId}.`);
  await lockAccount(tx, found.userId);
  const payment = await lockPayment(tx, paymentId);
  if (payment?.state !== "paid" || payment.amountCents === undefined) {
    throw conflict("payment_not_paid", `Payment ${paymentId} was not paid, so it cannot be refunded.`);
  }
  const left = payment.amountCents - (await sumRefunds(tx.db, paymentId));
  const cents = amount === undefined ? left : centsOf(amount);
  if (cents > left || cents <= 0n) {
    throw invalid(
      "amount",
      `amount may be at most ${centsText(left)}: the rest was refunded already, or was never paid`,
    );
  }
  const { availableNanos } = await readBalance(tx.db, tx.now, payment.userId);
  if (availableNanos < nanosOfCents(cents + (await sumUnbookedRefunds(tx.db, payment.userId)))) {
    throw invalid(
      "amount",
      "The user has spent too much of this payment: spent credit is not refunded.",
      "insufficient_balance",
    );
  }
  await insertRefund(tx, { paymentId, amountCents: cents });
  return cents;
}

function centsOf(amount: number): bigint {
  const parsed = parseDollars(amount);
  const cents = parsed === undefined ? undefined : wholeCentsOf(parsed);
  if (cents === undefined) throw invalid("amount", "amount must be dollars in whole cents");
  return cents;
}

export type RefundStatus = { readonly asked: number; readonly refused: number; readonly unanswered: number };

/** Asks the provider for the requested refunds. They are booked when an event reports that the money went back. */
export async function askForRefunds(dependencies: PaymentDependencies): Promise<RefundStatus> {
  const { database, clock, provider, log } = dependencies;
  if (!provider.describe().takesCards) return { asked: 0, refused: 0, unanswered: 0 };
  const claimed = await withTransaction(database, clock, (tx) => claimRefunds(tx, PER_RUN));
  const status = { asked: 0, refused: 0, unanswered: 0 };
  await inParallel(claimed, async (refund) => {
    const result = await askForOne(dependencies, refund);
    status[result.kind] += 1;
    if (result.kind === "unanswered") return;
    await withTransaction(database, clock, (tx) => settleRefund(tx, refund.id, result));
    if (result.kind === "refused") {
      log.error({ refund_id: refund.id, reason: result.reason }, "a payment could not be refunded");
    }
  });
  return status;
}

/** Asks for one refund. `unanswered`: its outcome is unknown, and the next run repeats it under the same key. */
async function askForOne(
  { database, clock, provider }: PaymentDependencies,
  { id, intentId, amountCents, firstAskedAt }: WantedRefund,
): Promise<RefundResult | { readonly kind: "unanswered" }> {
  if (clock.now().getTime() - firstAskedAt.getTime() > REPEATABLE_FOR_MS) {
    return { kind: "refused", reason: "the provider gave no answer for a day" };
  }
  const idempotencyKey = `${await readInstallation(database.kysely)}:refund:${id}`;
  try {
    return await provider.refund({ intentId, amountCents, idempotencyKey });
  } catch (error) {
    if (error instanceof AppError && error.kind === "unavailable") return { kind: "unanswered" };
    throw error;
  }
}
