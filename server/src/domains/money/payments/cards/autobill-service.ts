import { AppError } from "../../../../base/errors.ts";
import type { UserId } from "../../../../base/ids.ts";
import { invariant } from "../../../../base/invariant.ts";
import { ZERO } from "../../../../base/money.ts";
import { withTransaction, type Tx } from "../../../../db/transaction.ts";
import { listAutobilled, listBalanceThresholds, setBalanceThreshold } from "../../../people/accounts/for-payments.ts";
import { listAtMost, listSpendable } from "../../ledger/for-payments.ts";
import { postNotifications } from "../../../notifications/index.ts";
import { findAccount, listChargeable, lockAccount, storeAutobill } from "../account-store.ts";
import { afterFailure, afterGivingUp, chargeCents, REPEATABLE_FOR_MS } from "./rules/autobilling.ts";
import { findCard, findDefaultCard } from "./card-store.ts";
import { centsText } from "../rules/cents.ts";
import type { PaymentDependencies } from "../dependencies.ts";
import { listFlagged } from "../disputes/dispute-service.ts";
import { inParallel } from "../provider/in-parallel.ts";
import { claimAutobills, insertAutobill, settlePayment, storeIntent, type Payment } from "../top-ups/payment-store.ts";
import type { ChargeResult } from "../provider/provider.ts";
import { lockOrder, settleReceived } from "../top-ups/received-service.ts";
import { readInstallation } from "../rules-store.ts";

/** Time for which a begun charge belongs to the process that began it. */
const LEASE_MS = 60_000;
const USERS_PER_PAGE = 5000;
const CHARGES_PER_RUN = 40;

export type AutobillStatus = { readonly begun: number; readonly resumed: number; readonly unanswered: number };

/** Charges the cards of users who switched automatic payments on and whose credit has fallen to their threshold. */
export async function chargeDueCards(dependencies: PaymentDependencies): Promise<AutobillStatus> {
  const { database, clock, provider } = dependencies;
  if (!provider.describe().takesCards) return { begun: 0, resumed: 0, unanswered: 0 };
  const resumed = await withTransaction(database, clock, (tx) =>
    claimAutobills(tx, { leaseUntil: leaseFrom(tx.now), limit: CHARGES_PER_RUN }),
  );
  const begun = await beginCharges(dependencies, CHARGES_PER_RUN - resumed.length);
  const answered = await inParallel([...resumed, ...begun], (payment) => finishCharge(dependencies, payment));
  const unanswered = answered.filter((isAnswered) => !isAnswered).length;
  return { begun: begun.length, resumed: resumed.length, unanswered };
}

function leaseFrom(now: Date): Date {
  return new Date(now.getTime() + LEASE_MS);
}

/**
 * Stores the charges to make, each in a transaction of its own, before the provider is asked. Of the users who switched
 * automatic payments on, only those with little credit are examined more closely.
 */
async function beginCharges(dependencies: PaymentDependencies, limit: number): Promise<readonly Payment[]> {
  const { database, clock } = dependencies;
  const begun: Payment[] = [];
  for (let afterUserId = 0; begun.length < limit;) {
    const thresholds = await listAutobilled(database.kysely, { afterUserId, limit: USERS_PER_PAGE });
    const poor = await listAtMost(database.kysely, thresholds);
    for (const userId of await listChargeable(database.kysely, { now: clock.now(), userIds: poor })) {
      const payment = await withTransaction(database, clock, (tx) => beginCharge(tx, userId));
      if (payment !== undefined) begun.push(payment);
      if (begun.length >= limit) break;
    }
    if (thresholds.size < USERS_PER_PAGE) break;
    afterUserId = Math.max(...thresholds.keys());
  }
  return begun;
}

/**
 * Checks again under the account's lock: a user who meanwhile paid, removed the card or changed the threshold is not
 * charged.
 */
async function beginCharge(tx: Tx, userId: UserId): Promise<Payment | undefined> {
  const account = await lockAccount(tx, userId);
  const card = await findDefaultCard(tx.db, userId);
  const threshold = (await listBalanceThresholds(tx.db, [userId])).get(userId);
  const isPaused = account.notBeforeAt !== undefined && account.notBeforeAt > tx.now;
  if (card === undefined || threshold === undefined || isPaused) return undefined;
  // A bank was asked to take back a charge of this account: another charge would be the next dispute.
  if ((await listFlagged(tx.db, [userId])).has(userId)) return undefined;
  if (((await listSpendable(tx.db, [userId])).get(userId) ?? ZERO) > threshold) return undefined;
  const attemptNumber = account.attemptCount + 1;
  const payment = await insertAutobill(tx, {
    userId,
    attemptNumber,
    cardId: card.id,
    amountCents: chargeCents({ chosenCents: account.autobillCents, threshold }),
    leaseUntil: leaseFrom(tx.now),
  });
  if (payment !== undefined) await storeAutobill(tx, userId, { attemptCount: attemptNumber });
  return payment;
}

/** Asks the provider outside of any transaction, and stores the result; false when no answer came. */
async function finishCharge(dependencies: PaymentDependencies, payment: Payment): Promise<boolean> {
  const { database, clock, log } = dependencies;
  let result: ChargeResult | GivenUp;
  try {
    result = await askForCharge(dependencies, payment);
  } catch (error) {
    // The card may have been charged. The same request under the same key, or an event, will tell.
    if (error instanceof AppError && error.kind === "unavailable") return false;
    throw error;
  }
  const order = { installation: await readInstallation(database.kysely), paymentId: payment.id };
  await withTransaction(database, clock, async (tx) => {
    if (result.kind === "paid") return settleReceived(tx, log, { ...result, order });
    const locked = await lockOrder(tx, { order });
    if (locked?.state !== "pending") return;
    if (result.kind === "waiting") return storeIntent(tx, payment.id, result.intentId);
    if (result.kind === "given_up") return giveUpAutobill(tx, locked, result);
    return failAutobill(tx, locked, result);
  });
  return true;
}

/** A charge that its user does not want any more; no bank refused it. */
type GivenUp = { readonly kind: "given_up"; readonly reason: string };

async function askForCharge(
  { database, clock, provider }: PaymentDependencies,
  payment: Payment,
): Promise<ChargeResult | GivenUp> {
  const { userId, intentId, amountCents, cardId, attemptNumber } = payment;
  if (intentId !== undefined) return provider.findCharge(intentId);
  if (clock.now().getTime() - payment.createdAt.getTime() > REPEATABLE_FOR_MS) {
    return { kind: "declined", intentId: undefined, reason: "the card company could not be reached for a day" };
  }
  invariant(cardId !== undefined && amountCents !== undefined, "an automatic charge has a card and an amount");
  const [account, card, thresholds] = await Promise.all([
    findAccount(database.kysely, userId),
    findCard(database.kysely, cardId),
    listBalanceThresholds(database.kysely, [userId]),
  ]);
  const customerId = account?.customerId;
  invariant(customerId !== undefined && card !== undefined, "a user with a card has a customer id");
  // If an earlier request charged the card after all, an event reports it and the payment is credited.
  if (card.isRemoved) return { kind: "given_up", reason: "its card was removed" };
  if (!thresholds.has(userId)) return { kind: "given_up", reason: "automatic payments were switched off" };
  return provider.chargeSaved({
    order: { installation: await readInstallation(database.kysely), paymentId: payment.id },
    customerId,
    methodId: card.methodId,
    amountCents,
    idempotencyKey: `autobill:${userId}:${attemptNumber}`,
  });
}

/**
 * Ends a charge without an answer that is not wanted any more. It does not count as a failure of the card. No other
 * card is charged for a while, not even one that is yet to be saved, since this charge may have been made.
 */
async function giveUpAutobill(tx: Tx, payment: Payment, { reason }: GivenUp): Promise<void> {
  const { userId } = payment;
  await settlePayment(tx, payment.id, { state: "failed", intentId: undefined, failure: reason });
  await lockAccount(tx, userId);
  const isWanted = (await listBalanceThresholds(tx.db, [userId])).has(userId);
  const card = isWanted ? await findDefaultCard(tx.db, userId) : undefined;
  const nextAt = afterGivingUp(tx.now);
  if (isWanted) await storeAutobill(tx, userId, { notBeforeAt: nextAt });
  const amount = centsText(payment.amountCents ?? 0n);
  const consequence =
    card !== undefined
      ? `Your saved card may be charged after ${nextAt.toISOString()}.`
      : isWanted
        ? `No card is saved. Save a card, which may be charged after ${nextAt.toISOString()}, or switch automatic payments off.`
        : "Your card is not charged again until you switch automatic payments on.";
  await postNotifications(tx, [
    {
      userId,
      kind: "client:billing_failed",
      subject: `A charge of ${amount} was given up`,
      message: `A charge of ${amount}, which the card company had not answered, was given up: ${reason}. If it was made after all, it is credited. ${consequence}`,
      key: `billing_failed:${payment.id}`,
    },
  ]);
}

/** Stores the failure of a charge and the time of the next attempt; the payment and its account are locked. */
export async function failAutobill(
  tx: Tx,
  payment: Payment,
  { intentId, reason }: { readonly intentId: string | undefined; readonly reason: string },
): Promise<void> {
  if (payment.state !== "pending") return;
  const { userId } = payment;
  await settlePayment(tx, payment.id, { state: "failed", intentId, failure: reason });
  const account = await lockAccount(tx, userId);
  const isWanted = (await listBalanceThresholds(tx.db, [userId])).has(userId);
  const next = afterFailure(account.failureCount + 1, tx.now);
  if (next.kind === "off") {
    await setBalanceThreshold(tx, userId, { isEnabled: false });
    // After the user switches automatic payments on again, failures are counted from zero.
    await storeAutobill(tx, userId, { failureCount: 0, notBeforeAt: null });
  } else {
    await storeAutobill(tx, userId, { failureCount: account.failureCount + 1, notBeforeAt: next.at });
  }
  const amount = centsText(payment.amountCents ?? 0n);
  const consequence =
    next.kind === "off"
      ? "Automatic payments are now switched off: save another card and switch them on again, or add credit yourself."
      : isWanted
        ? `It is tried again after ${next.at.toISOString()}.`
        : "It is not tried again until you switch automatic payments on.";
  await postNotifications(tx, [
    {
      userId,
      kind: "client:billing_failed",
      subject: `Your card could not be charged ${amount}`,
      message: `Your card could not be charged ${amount}: ${reason}. ${consequence}`,
      key: `billing_failed:${payment.id}`,
    },
  ]);
}
