import { AppError, conflict, notFound } from "../../../../base/errors.ts";
import type { PayoutId, UserId } from "../../../../base/ids.ts";
import { invariant } from "../../../../base/invariant.ts";
import { formatDollars, nanos, type Nanos } from "../../../../base/money.ts";
import type { Encryption } from "../../../../base/encryption.ts";
import { RunAgain, withTransaction, type Reader, type Tx } from "../../../../db/transaction.ts";
import { balanceOf, earningsOf, FEES, postTransfers, type TransferRequest } from "../../ledger/index.ts";
import { listEarners, PAYOUTS } from "../../ledger/for-payments.ts";
import { postNotifications } from "../../../notifications/index.ts";
import { centsText, NANOS_PER_CENT } from "../rules/cents.ts";
import type { PaymentDependencies } from "../dependencies.ts";
import { inParallel } from "../provider/in-parallel.ts";
import { feeOf, fridayOf, PAYOUT_DELAY_MS, PAYOUT_MINIMUM, planPayout, returnedKey } from "./rules/payout.ts";
import { hasOpenPayoutHold, listHeldAmong } from "./payout-hold-store.ts";
import { readPayable, releaseTransfers } from "./payable-service.ts";
import { findPayoutMethod } from "./payout-method-store.ts";
import { openDetails } from "./payout-method-service.ts";
import {
  claimDuePayouts,
  findSettled,
  insertPayout,
  lockOwedPayout,
  lockPayout,
  lockRun,
  lockSettled,
  releasePayout,
  storeDestination,
  storeReturned,
  endPayout,
  storeRun,
  storeSettled,
  type Payout,
  type PayoutState,
} from "./payout-store.ts";
import type { PaymentProvider, PayOutResult } from "../provider/provider.ts";
import { feeRatePpm, readInstallation } from "../rules-store.ts";

export type PayoutDependencies = PaymentDependencies & { readonly encryption: Encryption };

const HOSTS_PER_TRANSACTION = 100;
const PAYOUTS_PER_RUN = 20;
/** Time for which a begun payout belongs to its process; longer than the provider takes to answer or time out. */
const LEASE_MS = 10 * 60_000;

/**
 * Writes the invoices of the last Friday: for each host with enough earnings, the fee and a payout of the rest.
 * Continues where it stopped, and considers each host once per Friday.
 */
export async function invoiceEarnings({
  database,
  clock,
}: PaymentDependencies): Promise<{ readonly invoiced: number }> {
  let invoiced = 0;
  for (;;) {
    const step = await withTransaction(database, clock, invoiceNext);
    invoiced += step.invoiced;
    if (step.isDone) return { invoiced };
  }
}

async function invoiceNext(tx: Tx): Promise<{ readonly invoiced: number; readonly isDone: boolean }> {
  const friday = fridayOf(tx.now);
  const run = await lockRun(tx, friday);
  if (run === undefined || run.isComplete) return { invoiced: 0, isDone: true };
  const wanted = { afterUserId: run.afterUserId, minimum: PAYOUT_MINIMUM, limit: HOSTS_PER_TRANSACTION };
  const hosts = await listEarners(tx.db, wanted);
  const held = await listHeldAmong(tx.db, hosts);
  const feePpm = await feeRatePpm(tx.db);
  const transfers: TransferRequest[] = [];
  let invoiced = 0;
  for (const userId of hosts) {
    // Held earnings stay earnings: the first Friday after the release invoices them.
    if (held.has(userId)) continue;
    const dueAt = new Date(friday.getTime() + PAYOUT_DELAY_MS);
    const posted = await invoiceHost(tx, { userId, friday, dueAt, feePpm });
    if (posted.length > 0) invoiced += 1;
    transfers.push(...posted);
  }
  // One batch, so that the accounts of all these hosts are locked in the order of their ids.
  await mustPost(tx, transfers);
  const isComplete = hosts.length < HOSTS_PER_TRANSACTION;
  await storeRun(tx, friday, { afterUserId: hosts.at(-1) ?? run.afterUserId, isComplete });
  return { invoiced, isDone: isComplete };
}

/** Stores the payout of one host, and returns its transfers; none when the earnings are below the minimum. */
async function invoiceHost(
  tx: Tx,
  {
    userId,
    friday,
    dueAt,
    feePpm,
  }: { readonly userId: UserId; readonly friday: Date; readonly dueAt: Date; readonly feePpm: number },
): Promise<readonly TransferRequest[]> {
  const settled = await lockSettled(tx, userId);
  // Later earnings lie above the settled part: they belong to the next invoice, as do those that wait.
  const { payable, released } = await readPayable(tx.db, tx.now, userId);
  const plan = planPayout({ balance: payable, settled, feePpm });
  if (plan.kind === "roll_over") return [];
  const { earned, fee, amount } = plan;
  const id = await insertPayout(tx, { userId, invoicedAt: friday, dueAt, earned, feePpm, fee, amount });
  if (id === undefined) return [];
  await storeSettled(tx, userId, plan.settledAfter);
  await postInvoiceNotification(tx, { id, userId, amount, dueAt });
  const common = { debit: earningsOf(userId), cause: { payout_id: id } };
  const description = `Platform fee of ${feePpm / 10_000} %`;
  const ofFee = { ...common, key: `fee:payout:${id}`, credit: FEES, amount: fee, code: "fee", description } as const;
  const ofRest = { key: `payout:${id}`, credit: PAYOUTS, amount, code: "payout", description: `Payout ${id}` } as const;
  const ofGrants = releaseTransfers(`payout:${id}`, { userId, amount: released, cause: { payout_id: id } });
  return [...ofGrants, ...(fee > 0n ? [ofFee] : []), { ...common, ...ofRest }];
}

/**
 * Posts these transfers. When earnings went back to a renter after the balance was read, the transaction starts again.
 */
async function mustPost(tx: Tx, requests: readonly TransferRequest[]): Promise<void> {
  const outcomes = await postTransfers(tx, requests);
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.kind === "insufficient") throw new RunAgain(`${requests[index]?.key} is short`);
    invariant(outcome.kind === "posted", `${requests[index]?.key} could not be posted: ${outcome.kind}`);
  }
}

async function postInvoiceNotification(
  tx: Tx,
  { id, userId, amount, dueAt }: Pick<Payout, "id" | "userId" | "amount" | "dueAt">,
): Promise<void> {
  const method = await findPayoutMethod(tx.db, userId);
  const text = centsText(amount / NANOS_PER_CENT);
  const where =
    method === undefined
      ? "Say where it is to be sent: berth host payout-method."
      : `It goes to ${method.method} ${method.shown}.`;
  await postNotifications(tx, [
    {
      userId,
      kind: "host:payout_scheduled",
      subject: `Payout of ${text} on ${dueAt.toISOString().slice(0, 10)}`,
      message: `Your payout ${id} of ${text} is due on ${dueAt.toISOString().slice(0, 10)}. ${where}`,
      key: `payout_scheduled:${id}`,
    },
  ]);
}

export type PayoutStatus = { readonly claimed: number; readonly paid: number; readonly unanswered: number };

/** Sends due payouts to hosts with an account at the provider. Administrators send the others. */
export async function sendDuePayouts(dependencies: PayoutDependencies): Promise<PayoutStatus> {
  const { database, clock, provider } = dependencies;
  while (await withTransaction(database, clock, returnOwed));
  if (!provider.describe().sendsPayouts) return { claimed: 0, paid: 0, unanswered: 0 };
  const claimed = await withTransaction(database, clock, (tx) => claimDue(tx, dependencies.encryption));
  const results = await inParallel(claimed, async (payout) => {
    const result = await askForPayOut(dependencies, payout);
    if (result !== undefined) await withTransaction(database, clock, (tx) => applyResult(tx, payout, result));
    return result?.kind;
  });
  const count = (kind: PayOutResult["kind"] | undefined) => results.filter((result) => result === kind).length;
  return { claimed: claimed.length, paid: count("paid"), unanswered: count(undefined) };
}

/**
 * Returns a due payout to earnings that have become negative since its invoice, so that the host's debt is paid first.
 * The rest has been open to objections for a week, so it is invoiced again and due at once; if the host has an invoice
 * of this Friday already, it waits for the next one. False when there is no such payout.
 */
async function returnOwed(tx: Tx): Promise<boolean> {
  const payout = await lockOwedPayout(tx);
  if (payout === undefined) return false;
  const owed = await debtOf(tx.db, payout.userId);
  const reason = `your earnings were $${formatDollars(owed)} below zero`;
  await returnPayout(tx, payout, { all: payout.amount, reason });
  const friday = fridayOf(tx.now);
  const dueAt = new Date(Math.max(tx.now.getTime(), friday.getTime() + 1));
  const { userId } = payout;
  await mustPost(tx, await invoiceHost(tx, { userId, friday, dueAt, feePpm: await feeRatePpm(tx.db) }));
  return true;
}

/** The debt of a host: the amount by which their earnings are below zero. */
async function debtOf(db: Reader, userId: UserId): Promise<Nanos> {
  const { balance } = await balanceOf(db, userId, "earnings");
  return nanos(balance < 0n ? -balance : 0n);
}

/**
 * Claims due payouts and fixes their destinations, so that a repetition after a crash requests exactly the same
 * payment.
 */
async function claimDue(tx: Tx, encryption: Encryption): Promise<readonly Payout[]> {
  const leaseUntil = new Date(tx.now.getTime() + LEASE_MS);
  const claimed = await claimDuePayouts(tx, { leaseUntil, limit: PAYOUTS_PER_RUN });
  const ready: Payout[] = [];
  for (const { encryptedDetails, ...payout } of claimed) {
    const known = payout.destination;
    const details =
      encryptedDetails === undefined ? undefined : openDetails(encryption, payout.userId, encryptedDetails);
    const destination = known ?? details?.["account_id"];
    if (destination === undefined) {
      // The details were encrypted under another secret of the server and cannot be read any more.
      await releasePayout(tx, payout.id);
      continue;
    }
    if (known === undefined) await storeDestination(tx, payout.id, destination);
    ready.push({ ...payout, destination });
  }
  return ready;
}

/** Requests a payout from the provider; undefined when its outcome is unknown. */
async function askForPayOut(
  { database, provider }: PayoutDependencies,
  { id, destination, amount, attemptCount }: Payout,
): Promise<PayOutResult | undefined> {
  invariant(destination !== undefined, "a payout is sent somewhere");
  try {
    return await provider.payOut({
      payoutId: id,
      installation: await readInstallation(database.kysely),
      destination,
      amountCents: amount / NANOS_PER_CENT,
      isRepeated: attemptCount > 1,
    });
  } catch (error) {
    // Its lease ends, and the next run requests the same payment again.
    if (error instanceof AppError && error.kind === "unavailable") return undefined;
    throw error;
  }
}

async function applyResult(tx: Tx, { id }: Payout, result: PayOutResult): Promise<void> {
  const payout = await lockPayout(tx, id);
  if (payout?.state !== "sending") return;
  switch (result.kind) {
    case "paid":
      return notePaid(tx, payout, { method: payout.method, reference: result.reference });
    case "refused":
      return returnPayout(tx, payout, { all: payout.amount, reason: result.reason });
    case "by_hand":
      return releasePayout(tx, id);
  }
}

async function notePaid(
  tx: Tx,
  payout: Payout,
  { method, reference }: Pick<Payout, "method"> & { readonly reference: string },
): Promise<void> {
  await endPayout(tx, payout.id, { state: "paid", method, reference });
  const amount = centsText(payout.amount / NANOS_PER_CENT);
  await postNotifications(tx, [
    {
      userId: payout.userId,
      kind: "host:payout_sent",
      subject: `Payout of ${amount} sent`,
      message: `Your payout ${payout.id} of ${amount} was sent (reference ${reference}).`,
      key: `payout_sent:${payout.id}`,
    },
  ]);
}

/**
 * Returns a payout, or a part of it, to earnings without another fee; the next Friday invoices it again. `all` is the
 * sum of all returns so far; the payout has failed once that is its whole amount. A repeated or outdated sum changes
 * nothing.
 */
async function returnPayout(tx: Tx, payout: Payout, { all, reason }: { readonly all: Nanos; readonly reason: string }) {
  const { id, userId, amount: whole, returnCount } = payout;
  const amount = nanos(all - payout.returned);
  if (amount <= 0n) return;
  const isWhole = all >= whole;
  if (isWhole) await endPayout(tx, id, { state: "failed", failure: reason });
  await storeReturned(tx, id, all);
  const settled = await lockSettled(tx, userId);
  const back = { debit: PAYOUTS, credit: earningsOf(userId), amount, code: "payout_returned" } as const;
  const key = returnedKey(id, returnCount + 1);
  const description = isWhole && returnCount === 0 ? `Payout ${id} came back` : `A part of payout ${id} came back`;
  await mustPost(tx, [{ ...back, key, cause: { payout_id: id }, description }]);
  await storeSettled(tx, userId, settled + amount);
  await postNotifications(tx, [returnNotification(payout, { amount, isWhole, reason })]);
}

function returnNotification(
  { id, userId, amount: whole, returnCount }: Payout,
  { amount, isWhole, reason }: { readonly amount: Nanos; readonly isWhole: boolean; readonly reason: string },
) {
  const [wholeText, text] = [centsText(whole / NANOS_PER_CENT), centsText(amount / NANOS_PER_CENT)];
  const isOneStep = isWhole && returnCount === 0;
  return {
    userId,
    kind: "host:payout_failed",
    subject: isOneStep ? `Payout of ${wholeText} failed` : `${text} of a payout came back`,
    message: isOneStep
      ? `Your payout ${id} of ${wholeText} could not be sent: ${reason}. It is back in your earnings.`
      : `Of your payout ${id} of ${wholeText}, ${text} came back: ${reason}. That is back in your earnings.`,
    key: returnCount === 0 ? `payout_failed:${id}` : `payout_failed:${id}:${returnCount + 1}`,
  } as const;
}

export type TakenBack = {
  readonly installation: string;
  readonly payoutId: PayoutId;
  readonly reference: string;
  readonly returnedCents: bigint;
};

/**
 * Returns to earnings a payout, or a part of it, that the provider has taken back, as an administrator could. The
 * provider reports the sum of all amounts taken back, in any order, and perhaps before it answers the payout itself;
 * the payout was then sent.
 */
export async function takeBackPayout(tx: Tx, told: TakenBack): Promise<void> {
  if (told.installation !== (await readInstallation(tx.db))) return;
  const payout = await lockPayout(tx, told.payoutId);
  if (payout === undefined || payout.method !== "stripe") return;
  if (payout.state !== "sending" && payout.reference !== told.reference) return;
  if (payout.state !== "sending" && payout.state !== "paid") return;
  const returned = nanos(told.returnedCents * NANOS_PER_CENT);
  const all = returned < payout.amount ? returned : payout.amount;
  const isPart = all < payout.amount;
  if (isPart && payout.state === "sending") {
    await notePaid(tx, payout, { method: payout.method, reference: told.reference });
  }
  await returnPayout(tx, payout, { all, reason: `it was taken back (${told.reference})` });
}

const OPEN_STATES: ReadonlySet<PayoutState> = new Set(["pending", "sending"]);

export type HandSettlement =
  | { readonly state: "paid"; readonly reference: string }
  | { readonly state: "failed"; readonly reason: string };

/**
 * Settles a payout on an administrator's word. A payout that the provider is sending cannot be settled by hand, since
 * it may be on its way. A paid payout may still come back.
 */
export async function settleByHand(
  tx: Tx,
  provider: PaymentProvider,
  { id, settlement }: { readonly id: PayoutId; readonly settlement: HandSettlement },
): Promise<void> {
  const payout = await lockPayout(tx, id);
  if (payout === undefined) throw noSuchPayout(id);
  // When the provider is not configured any more, only the administrator can know the outcome.
  if (payout.state === "sending" && provider.describe().sendsPayouts) {
    throw conflict("payout_in_progress", `Payout ${id} is being sent; its outcome will be known shortly.`);
  }
  const canSettle = settlement.state === "failed" ? payout.state !== "failed" : OPEN_STATES.has(payout.state);
  if (!canSettle) throw conflict("payout_settled", `Payout ${id} is ${payout.state} already.`);
  if (settlement.state === "failed") {
    await returnPayout(tx, payout, { all: payout.amount, reason: settlement.reason });
  } else {
    if (await hasOpenPayoutHold(tx.db, payout.userId)) {
      throw conflict(
        "payout_held",
        `Payout ${id} is held. Release the holds of user ${payout.userId} before you pay it.`,
      );
    }
    const owed = await debtOf(tx.db, payout.userId);
    if (owed > 0n) {
      const message = `User ${payout.userId} owes $${formatDollars(owed)}: payout ${id} goes back to the earnings when it is due.`;
      throw conflict("payout_held", message);
    }
    const method = (await findPayoutMethod(tx.db, payout.userId))?.method;
    await notePaid(tx, payout, { method, reference: settlement.reference });
  }
}

export function noSuchPayout(id: PayoutId): AppError {
  return notFound("no_such_payout", `There is no payout ${id}.`);
}

/** The earnings that the next invoice would count, and their fee, as of now. */
export async function readFeeDue(db: Reader, userId: UserId) {
  const [{ available }, settled, feePpm] = await Promise.all([
    balanceOf(db, userId, "earnings"),
    findSettled(db, userId),
    feeRatePpm(db),
  ]);
  const earned = available - settled;
  return { earned, fee: feeOf(earned, feePpm), feePpm };
}
