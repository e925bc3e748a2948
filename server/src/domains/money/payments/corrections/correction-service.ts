import { conflict, invalid } from "../../../../base/errors.ts";
import { canonical } from "../../../../base/facts.ts";
import type { UserId } from "../../../../base/ids.ts";
import { invariant } from "../../../../base/invariant.ts";
import { formatDollars, nanos, type Nanos } from "../../../../base/money.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { tellAdministrators } from "../../../people/accounts/index.ts";
import {
  balanceOf,
  creditOf,
  earningsOf,
  lockAccounts,
  LOSSES,
  postAllTransfers,
  type TransferId,
  type TransferRequest,
} from "../../ledger/index.ts";
import { findTransferOf, sumKeptEarnings } from "../../ledger/for-payments.ts";
import { postNotifications } from "../../../notifications/index.ts";

/** A booking that an administrator makes by hand. */
export type Booking = {
  readonly userId: UserId;
  /** Nano-dollars, above zero. */
  readonly amount: Nanos;
  /** The reason, as the account's owner reads it on statements. */
  readonly reason: string;
  /** Names the case: each account has one booking of a kind under a reference, however often it is requested. */
  readonly reference: string;
  readonly actorId: UserId;
};

export type Booked = {
  readonly transferId: TransferId;
  /** False when this very booking existed already. */
  readonly isNew: boolean;
  /** The account's balance after the booking. */
  readonly balance: Nanos;
};

/**
 * Takes earnings back from a host; the balance becomes negative when they were paid out already, and later earnings pay
 * the debt. Takes at most what the host has earned and has not lost before; throws an error about `amount` beyond that.
 */
export async function takeBackEarnings(tx: Tx, booking: Booking): Promise<Booked> {
  const { userId, amount, reason, reference } = booking;
  return book(tx, booking, {
    key: `earnings_taken_back:${userId}:${reference}`,
    debit: earningsOf(userId),
    credit: LOSSES,
    code: "earnings_taken_back",
    description: `Earnings taken back: ${reason}`,
    notification: {
      kind: "host:earnings_taken_back",
      subject: `$${formatDollars(amount)} of your earnings was taken back`,
      text: `$${formatDollars(amount)} was taken out of your earnings (reference ${reference}). Reason: ${reason}`,
    },
  });
}

export type Correction = Booking & {
  /** The account to correct. */
  readonly side: "credit" | "earnings";
  /** `up` brings money to the account, `down` takes it away. */
  readonly direction: "up" | "down";
};

/**
 * Corrects the credit of a renter or the earnings of a host, with cash of the house. `down` takes at most the spendable
 * credit, or the host's earnings; throws an error about `amount` beyond that.
 */
export async function bookCorrection(tx: Tx, correction: Correction): Promise<Booked> {
  const { userId, amount, reason, reference, side, direction } = correction;
  const account = side === "credit" ? creditOf(userId) : earningsOf(userId);
  const [debit, credit] = direction === "up" ? [LOSSES, account] : [account, LOSSES];
  const moved = direction === "up" ? `came to your ${side}` : `left your ${side}`;
  return book(tx, correction, {
    key: `correction:${userId}:${side}:${reference}`,
    debit,
    credit,
    code: "correction",
    description: `Correction: ${reason}`,
    notification: {
      kind: "client:account_corrected",
      subject: `$${formatDollars(amount)} ${moved} as a correction`,
      text: `$${formatDollars(amount)} ${moved} (reference ${reference}). Reason: ${reason}`,
    },
  });
}

type Entry = Pick<TransferRequest, "key" | "debit" | "credit" | "code" | "description"> & {
  readonly notification: {
    readonly kind: "host:earnings_taken_back" | "client:account_corrected";
    readonly subject: string;
    readonly text: string;
  };
};

/**
 * Posts a booking. The locks of both accounts serialize requests of one reference: the second finds the first's
 * booking.
 */
async function book(tx: Tx, booking: Booking, { notification, ...entry }: Entry): Promise<Booked> {
  const { userId, amount, reason, reference, actorId } = booking;
  const side = entry.debit === LOSSES ? entry.credit : entry.debit;
  const accounts = await lockAccounts(tx, [entry.debit, entry.credit]);
  const kind = side.kind === "earnings" ? "earnings" : "credit";
  const balance = async () => (await balanceOf(tx.db, userId, kind)).available;
  const cause = { actor_id: actorId, reason, reference };
  const earlier = await findTransferOf(tx.db, entry.key);
  if (earlier !== undefined) {
    const isSame = earlier.amount === amount && canonical(earlier.cause) === canonical(cause);
    if (!isSame) throw referenceUsed(reference, nanos(earlier.amount));
    return { transferId: earlier.id, isNew: false, balance: await balance() };
  }
  if (entry.debit !== LOSSES) {
    const most = kind === "earnings" ? await sumKeptEarnings(tx.db, userId) : await balance();
    if (amount > most) throw tooMuch(userId, kind, nanos(most > 0n ? most : 0n));
  }
  const [transferId] = await postAllTransfers(tx, accounts, [{ ...entry, amount, cause }]);
  invariant(transferId !== undefined, "an entry that was posted has its id");
  const after = await balance();
  const owed = after < 0n ? ` Your ${kind} are $${formatDollars(after)} now: later earnings make that good.` : "";
  const { kind: notificationKind, subject, text } = notification;
  const message = `${/[.!?]$/.test(text) ? text : `${text}.`}${owed}`;
  await postNotifications(tx, [{ userId, kind: notificationKind, subject, message, key: entry.key }]);
  await tellAdministrators(tx, {
    subject: `Account ${userId}: ${entry.code === "correction" ? "a correction" : "earnings taken back"}`,
    message: `Administrator ${actorId} booked $${formatDollars(amount)} ${entry.debit === LOSSES ? "to" : "from"} the ${kind} of account ${userId} (reference ${reference}). Reason: ${reason}`,
    key: `booked:${entry.key}`,
  });
  return { transferId, isNew: true, balance: after };
}

function tooMuch(userId: UserId, kind: "credit" | "earnings", most: Nanos) {
  const why = kind === "earnings" ? "has earned and not given back" : "can spend now";
  return invalid("amount", `amount may be at most $${formatDollars(most)}: that is what account ${userId} ${why}`);
}

function referenceUsed(reference: string, amount: Nanos) {
  const message = `Reference ${reference} is booked already, with $${formatDollars(amount)}. Use a new reference for another case.`;
  return conflict("reference_used", message, { extra: { field: "reference" } });
}
