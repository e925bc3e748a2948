import { invariant } from "../../../../base/invariant.ts";
import type { PaymentId, UserId } from "../../../../base/ids.ts";
import type { Log } from "../../../../base/log.ts";
import { formatDollars, nanos, toDollars, ZERO, type Nanos } from "../../../../base/money.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { lockDeposits, shrinkDeposits, type LockedDeposit } from "../../deposits/index.ts";
import {
  balanceOf,
  creditOf,
  earningsOf,
  lockAccounts,
  LOSSES,
  postAllTransfers,
  type Cause,
  type Arrival,
  type LockedAccounts,
  type TransferRequest,
} from "../../ledger/index.ts";
import {
  findTransferOf,
  readFreeCashOf,
  setDebt,
  STRIPE,
  sumGranted,
  type AccountRef,
  type TransferCode,
} from "../../ledger/for-payments.ts";
import { listRunsOf, settleLocked } from "../../charging/index.ts";
import { postNotifications } from "../../../notifications/index.ts";
import { nanosOfCents } from "../rules/cents.ts";
import { flagDisputed, unflagDisputed } from "../disputes/dispute-service.ts";
import { findPayment } from "../top-ups/payment-store.ts";
import {
  instanceOfDeposit,
  isDepositKind,
  kindOfDeposit,
  paymentKey,
  returnKey,
  takenKeysOf,
  takingKey,
  type ReturnPart,
  type TakenFrom,
} from "./rules/return-keys.ts";
import { listReturnedPayments, lockReturns, storeBooked, type PaymentReturn } from "./return-store.ts";
import { readEarningsRules } from "../rules-store.ts";
import { planTakeBack } from "../disputes/rules/take-back.ts";
import { closeTakings, insertTakings, listOpenTakings, type Taking as Taken } from "../disputes/taking-store.ts";
import {
  accountOf,
  nameOf,
  traceCredit,
  type OpenDeposit,
  type Place,
  type Trace,
} from "../disputes/tracing-service.ts";

const DAY_MS = 86_400_000;

type PaidIntent = { readonly intentId: string; readonly userId: UserId; readonly paymentId: PaymentId };

/**
 * Books the returns of a credited payment. The amount comes out of the user's credit; missing amounts come first from
 * the user's deposits, then from those who received the credit, as far as it is still there. The rest becomes the
 * user's debt: negative credit, with which nothing can be rented. A dispute that the operator won is booked back. The
 * result does not depend on the order of the reports.
 */
export async function bookReturns(tx: Tx, log: Log, paid: PaidIntent): Promise<void> {
  for (const entry of await lockReturns(tx, paid.intentId)) {
    const target = entry.isReversed ? ZERO : nanosOfCents(entry.returnedCents);
    const booked = entry.taken + entry.lost;
    if (target === booked) continue;
    const changed =
      target > booked
        ? await take(tx, log, paid, { entry, amount: nanos(target - booked) })
        : await giveBack(tx, paid, entry);
    await storeBooked(tx, { key: entry.key, ...changed, bookedCount: entry.bookedCount + 1 });
  }
}

type Booked = Pick<PaymentReturn, "taken" | "lost">;
type Taking = { readonly entry: PaymentReturn; readonly amount: Nanos };

/**
 * Takes an amount from the user's credit, which may become negative. The missing part comes first from the user's own
 * deposits, then from where the credit went.
 */
async function take(tx: Tx, log: Log, paid: PaidIntent, { entry, amount }: Taking): Promise<Booked> {
  const { userId } = paid;
  const { accounts, plan, deposits } = await lockPlanned(tx, paid, amount);
  const { takings, missingNanos, isCutOff } = plan;
  const number = entry.bookedCount + 1;
  await flagDisputed(tx, log, { ...paid, key: entry.key });
  const backs = takings.map((from) => ({
    key: takingKey("taken_back", { key: entry.key, bookingNumber: number }, from),
    debit: accountOf(from),
    credit: creditOf(userId),
    amount: from.amount,
    code: "taken_back" as const,
    cause: causeOf(paid, entry, from),
    description: describeTaken(paid, from),
  }));
  await postAllTransfers(tx, accounts, backs);
  await insertTakings(tx, entry.key, takings);
  const changed = new Set(takings.map(({ kind }) => kind));
  await shrinkDeposits(
    tx,
    deposits.filter(({ kind }) => changed.has(kind)).map(({ id }) => id),
  );
  await setDebt(tx, userId, amount);
  const moved = { debit: creditOf(userId), credit: STRIPE, amount, code: "payment_returned" } as const;
  await postAllTransfers(tx, accounts, [describe(paid, entry, "taken", moved)]);
  await postNotifications(tx, [
    debtNotification(paid, { amount, missingNanos, takings, key: `${entry.key}:${number}` }),
    ...backs.filter(({ debit }) => debit.kind !== "deposit" || debit.userId !== userId).map(backNotification),
  ]);
  if (missingNanos > 0n) {
    const about = {
      payment_id: paid.paymentId,
      user_id: userId,
      return: entry.key,
      owed_dollars: toDollars(missingNanos),
      ...(isCutOff ? { is_cut_off: true } : {}),
    };
    tx.afterCommit(() => log.error(about, "a returned payment exceeded what was left of it: its user has a debt"));
  }
  return { taken: nanos(entry.taken + amount), lost: entry.lost };
}

type OwnedDeposit = OpenDeposit & LockedDeposit;

/**
 * Plans the amounts to take, under the locks of all accounts that it reads. The way of the credit is traced before, to
 * know what to lock, and again under the locks; accounts that money reached in between are traced and locked as well.
 * The usage of deposits is charged first, so that hosts keep what they earned from them. The payer's runs are charged
 * too: usage before the return is owed to the host, who gets it back when the return is reversed.
 */
async function lockPlanned(
  tx: Tx,
  paid: PaidIntent,
  amount: Nanos,
): Promise<{
  readonly accounts: LockedAccounts;
  readonly plan: Trace;
  readonly deposits: readonly OwnedDeposit[];
}> {
  const known = new Map<string, Place>();
  const runs = await listRunsOf(tx.db, paid.userId);
  const runIds = runs.map(({ id }) => id);
  let plan = await planTaking(tx, paid, { amount, deposits: [] });
  for (;;) {
    for (const place of plan.places) known.set(nameOf(place), place);
    const owners = new Set([paid.userId, ...[...known.values()].map(({ userId }) => userId)]);
    const locked = await lockDeposits(tx, [...owners], runIds);
    const deposits = locked.map((deposit): OwnedDeposit => ({ ...deposit, kind: kindOfDeposit(deposit.id) }));
    for (const place of deposits) known.set(nameOf(place), place);
    const accounts = await lockAccounts(tx, [
      creditOf(paid.userId),
      STRIPE,
      ...[...known.values()].map((place) => accountOf(place)),
      ...deposits.flatMap(({ userId, hostId }) => [creditOf(userId), earningsOf(hostId)]),
      ...runs.map(({ hostId }) => earningsOf(hostId)),
    ]);
    await settleLocked(tx, [...new Set([...deposits.map(({ id }) => id), ...runIds])]);
    plan = await planTaking(tx, paid, { amount, deposits });
    if (plan.places.every((place) => known.has(nameOf(place)))) return { accounts, plan, deposits };
  }
}

/**
 * Plans which account gives which part. Cash went back to the card, so cash is searched first, in deposits and at hosts
 * as well, even when the credit has granted parts. Granted credit pays for the part that is found nowhere.
 */
async function planTaking(
  tx: Tx,
  { userId, intentId, paymentId }: PaidIntent,
  { amount, deposits }: { readonly amount: Nanos; readonly deposits: readonly OpenDeposit[] },
): Promise<Trace> {
  const own = deposits.filter((deposit) => deposit.userId === userId);
  const [ofCredit = 0n, ...ofOwn] = await readFreeCashOf(tx.db, [creditOf(userId), ...own.map(accountOf)]);
  const holders = own.map((name, index) => ({ name, sentNanos: ofOwn[index] ?? 0n, cashNanos: ofOwn[index] ?? 0n }));
  const fromOwn = planTakeBack(amount - ofCredit, holders).parts.map(({ name, amount: part }) => {
    return { kind: name.kind, userId, through: [], amount: nanos(part) };
  });
  const { available } = await balanceOf(tx.db, userId);
  const found = fromOwn.reduce((sum, part) => sum + part.amount, ofCredit);
  const settledAt = (await findPayment(tx.db, paymentId))?.settledAt ?? tx.now;
  const trace = await traceCredit(tx.db, {
    wantedNanos: amount - found,
    ...(await arrivalsOf(tx, { userId, intentId, settledAt })),
    deposits,
  });
  const grantedNanos = available > ofCredit ? available - ofCredit : 0n;
  const missingNanos = trace.missingNanos > grantedNanos ? trace.missingNanos - grantedNanos : 0n;
  return { ...trace, missingNanos, takings: [...fromOwn, ...trace.takings] };
}

/**
 * The arrivals from which a payment's credit is followed to users and to hosts. Another returned payment of the payer
 * may have been taken out of this payment's credit, while its own purchases were not taken back. So both ways start at
 * the earliest returned payment, for hosts at the earliest one that is not too old. The order of the returns changes
 * nothing.
 */
async function arrivalsOf(
  tx: Tx,
  { userId, ...payment }: { readonly userId: UserId; readonly intentId: string; readonly settledAt: Date },
): Promise<{ readonly payment: Arrival; readonly paidSince: Arrival | undefined }> {
  const { cardHoldDays } = await readEarningsRules(tx.db);
  const arrivals: Arrival[] = [];
  for (const { intentId, settledAt: at } of [payment, ...(await listReturnedPayments(tx.db, userId))]) {
    const credited = await findTransferOf(tx.db, paymentKey(intentId));
    arrivals.push({ userId, transferId: credited?.id ?? 0n, at });
  }
  const first = firstOf(arrivals);
  invariant(first !== undefined, "the payment itself has arrived");
  const isYoung = ({ at }: Arrival) => tx.now.getTime() - at.getTime() <= cardHoldDays * DAY_MS;
  return { payment: first, paidSince: firstOf(arrivals.filter(isYoung)) };
}

/** The earliest arrival by transfer id, which decides the order. */
function firstOf(arrivals: readonly Arrival[]): Arrival | undefined {
  return arrivals.toSorted((one, other) => Number(one.transferId - other.transferId))[0];
}

/**
 * The cause of a taking from a host. When another renter than the payer paid the host, the cause names that renter: the
 * host then returns less to them after a failure.
 */
function causeOf({ paymentId }: PaidIntent, { key }: PaymentReturn, { kind, through }: TakenFrom): Cause {
  const last = through.at(-1);
  return {
    payment_id: paymentId,
    return: key,
    ...(last === undefined || kind !== "earnings" ? {} : { renter_id: last }),
  };
}

function describeTaken({ userId }: PaidIntent, { kind, through }: TakenFrom): string {
  const sender = isDepositKind(kind) ? through.at(-2) : through.at(-1);
  return sender === undefined
    ? `Taken back: a card payment of user ${userId} was returned`
    : `Taken back: credit from user ${sender} came from a card payment that was returned`;
}

function debtNotification(
  { userId, paymentId }: PaidIntent,
  {
    amount,
    missingNanos,
    takings,
    key,
  }: {
    readonly amount: Nanos;
    readonly missingNanos: bigint;
    readonly takings: readonly Taken[];
    readonly key: string;
  },
) {
  const prepaid = takings.flatMap(({ kind, userId: owner, amount: part }) =>
    isDepositKind(kind) && owner === userId
      ? [` $${formatDollars(part)} of it came out of the deposit of instance ${instanceOfDeposit(kind)}.`]
      : [],
  );
  const owed =
    missingNanos > 0n
      ? ` You owe $${formatDollars(nanos(missingNanos))}: you can rent nothing until you add that much credit.`
      : "";
  return {
    userId,
    kind: "client:payment_taken_back",
    subject: `$${formatDollars(amount)} of a card payment was taken back`,
    message: `$${formatDollars(amount)} of your payment ${paymentId} went back to its card and left your credit.${prepaid.join("")}${owed}`,
    key: `payment_taken_back:${key}`,
  } as const;
}

function backNotification({ debit, amount, key, description }: TransferRequest) {
  return movedNotification(debit, { amount, key, what: "taken back", verb: "left", description });
}

function givenBackNotification({ credit, amount, key, description }: TransferRequest) {
  return movedNotification(credit, { amount, key, what: "given back", verb: "is again in", description });
}

/**
 * The notification to a user other than the payer about money that a dispute took from, or returned to, their account.
 */
function movedNotification(
  account: AccountRef,
  {
    amount,
    key,
    what,
    verb,
    description,
  }: Pick<TransferRequest, "amount" | "key" | "description"> & { readonly what: string; readonly verb: string },
) {
  const userId = "userId" in account ? account.userId : undefined;
  invariant(userId !== undefined, "an account that money is taken back from has a user");
  const isHost = account.kind === "earnings";
  const place =
    account.kind === "deposit" ? `deposit of instance ${account.instanceId}` : isHost ? "earnings" : "credit";
  return {
    userId,
    kind: isHost ? "host:earnings_taken_back" : "client:credit_taken_back",
    subject: `$${formatDollars(amount)} of your ${place} was ${what}`,
    message: `$${formatDollars(amount)} ${verb} your ${place}. ${description}.`,
    key,
  } as const;
}

/**
 * Books a won dispute: the whole amount returns to the payer's credit, and from there to each other user from whom a
 * part was taken. An advance of the house returns as an advance. Closed takings and the count of bookings make it
 * happen once.
 */
async function giveBack(tx: Tx, paid: PaidIntent, entry: PaymentReturn): Promise<Booked> {
  const { userId } = paid;
  // Deposits of the payer are not filled again: the money is in the payer's credit, who may prepay with it.
  const isOwn = (taking: TakenFrom) => isDepositKind(taking.kind) && taking.userId === userId;
  const takings = (await listOpenTakings(tx, entry.key)).filter((taking) => !isOwn(taking));
  const others = takings.map(givenBackTo);
  const accounts = await lockAccounts(tx, [creditOf(userId), STRIPE, LOSSES, ...others]);
  // The house advanced what the user had spent: at the booking, that part was granted credit.
  const granted = await sumGranted(tx.db, takenKeysOf(entry.key, entry.bookedCount));
  const advanced = least(granted, entry.taken);
  const moves = [
    ["credit", creditOf(userId), nanos(entry.taken - advanced), "payment"],
    ["advance", creditOf(userId), advanced, "payment_returned"],
    ["losses", LOSSES, entry.lost, "payment"],
  ] as const;
  const restored = moves.flatMap(([part, credit, amount, code]) =>
    amount === 0n ? [] : [describe(paid, entry, part, { debit: STRIPE, credit, amount, code })],
  );
  const backs = takings.map((taking) => ({
    key: takingKey("given_back", { key: entry.key, bookingNumber: entry.bookedCount + 1 }, taking),
    debit: creditOf(userId),
    credit: givenBackTo(taking),
    amount: taking.amount,
    code: "taken_back" as const,
    cause: causeOf(paid, entry, taking),
    description:
      taking.through.length === 0
        ? `Given back: the dispute about a card payment of user ${userId} was decided for the seller`
        : "Given back: the dispute about a card payment was decided for the seller",
  }));
  await postAllTransfers(tx, accounts, [...restored, ...backs]);
  await closeTakings(tx, entry.key);
  await setDebt(tx, userId, 0n);
  await unflagDisputed(tx, { userId, key: entry.key });
  await postNotifications(tx, backs.map(givenBackNotification));
  return { taken: ZERO, lost: ZERO };
}

/**
 * The account that gets a taking back. A deposit is not filled again, since its rental may be over: its owner gets
 * credit.
 */
function givenBackTo(taking: TakenFrom): AccountRef {
  return isDepositKind(taking.kind) ? creditOf(taking.userId) : accountOf(taking);
}

function least(one: Nanos, other: Nanos): Nanos {
  return one < other ? one : other;
}

function describe(
  { paymentId }: PaidIntent,
  { key, bookedCount }: PaymentReturn,
  part: ReturnPart,
  moved: {
    readonly debit: AccountRef;
    readonly credit: AccountRef;
    readonly amount: Nanos;
    readonly code: TransferCode;
  },
) {
  const kind = key.startsWith("dispute:") ? "dispute" : "refund";
  const isRestored = moved.debit.kind === "stripe";
  return {
    ...moved,
    key: returnKey(key, bookedCount + 1, part),
    cause: { payment_id: paymentId, provider: "stripe", return: key },
    description: isRestored
      ? "Payment restored: the dispute was decided for the seller"
      : `Card payment returned (${kind})`,
  };
}
