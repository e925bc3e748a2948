import { invariant } from "../../base/invariant.ts";
import type { PaymentId, UserId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { nanos, toDollars, ZERO, type Nanos } from "../../base/money.ts";
import type { Tx } from "../../db/transaction.ts";
import {
  balanceOf,
  creditOf,
  LOSSES,
  postTransfer,
  STRIPE,
  type AccountRef,
  type TransferCode,
} from "../ledger/index.ts";
import { nanosOfCents } from "./cents.ts";
import { returnKey, type ReturnPart } from "./return-keys.ts";
import { lockReturns, storeBooked, type PaymentReturn } from "./return-store.ts";

type PaidIntent = { readonly intentId: string; readonly userId: UserId; readonly paymentId: PaymentId };

/**
 * Books what went back of a payment that was credited: out of the user's credit as far as it suffices, and the rest is the
 * house's loss. A dispute that was won is booked back. Whatever order this is told in, the same is booked in the end.
 */
export async function bookReturns(tx: Tx, log: Log, paid: PaidIntent): Promise<void> {
  for (const entry of await lockReturns(tx, paid.intentId)) {
    const target = entry.isReversed ? ZERO : nanosOfCents(entry.returnedCents);
    const booked = entry.taken + entry.lost;
    if (target === booked) continue;
    const changed =
      target > booked ? await take(tx, paid, entry, nanos(target - booked)) : await giveBack(tx, paid, entry);
    await storeBooked(tx, { key: entry.key, ...changed, bookedCount: entry.bookedCount + 1 });
    if (changed.lost > entry.lost) {
      const lost = toDollars(changed.lost - entry.lost);
      const about = { payment_id: paid.paymentId, user_id: paid.userId, return: entry.key, lost_dollars: lost };
      tx.afterCommit(() => log.error(about, "money went back that its user had spent: the house has lost it"));
    }
  }
}

type Booked = Pick<PaymentReturn, "taken" | "lost">;

async function take(tx: Tx, paid: PaidIntent, entry: PaymentReturn, amount: Nanos): Promise<Booked> {
  const taken = await takeFromCredit(tx, paid, entry, amount);
  const rest = nanos(amount - taken);
  if (rest > 0n) {
    const moved = { debit: LOSSES, credit: STRIPE, amount: rest, code: "write_off" } as const;
    const outcome = await postTransfer(tx, describe(paid, entry, "lost", moved));
    invariant(outcome.kind === "posted", `a loss could not be booked: ${outcome.kind}`);
  }
  return { taken: nanos(entry.taken + taken), lost: nanos(entry.lost + rest) };
}

/** Takes what the user has, up to the amount; nothing that is set aside, and nothing below zero. */
async function takeFromCredit(tx: Tx, paid: PaidIntent, entry: PaymentReturn, amount: Nanos): Promise<Nanos> {
  const { available } = await balanceOf(tx.db, paid.userId);
  let wanted = least(available, amount);
  // The first refusal locks the account, so that the second attempt knows what is there.
  while (wanted > 0n) {
    const moved = { debit: creditOf(paid.userId), credit: STRIPE, amount: wanted, code: "payment_returned" } as const;
    const outcome = await postTransfer(tx, describe(paid, entry, "taken", moved));
    if (outcome.kind === "posted") return wanted;
    invariant(outcome.kind === "insufficient", `what went back could not be booked: ${outcome.kind}`);
    wanted = least(outcome.availableNanos, wanted);
  }
  return ZERO;
}

async function giveBack(tx: Tx, paid: PaidIntent, entry: PaymentReturn): Promise<Booked> {
  for (const [part, credit, amount] of [
    ["credit", creditOf(paid.userId), entry.taken],
    ["losses", LOSSES, entry.lost],
  ] as const) {
    if (amount === 0n) continue;
    const moved = { debit: STRIPE, credit, amount, code: "payment" } as const;
    const outcome = await postTransfer(tx, describe(paid, entry, part, moved));
    invariant(outcome.kind === "posted", `what came back could not be booked: ${outcome.kind}`);
  }
  return { taken: ZERO, lost: ZERO };
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
  return {
    ...moved,
    key: returnKey(key, bookedCount + 1, part),
    cause: { payment_id: paymentId, provider: "stripe", return: key },
    description: moved.code === "payment" ? "A dispute was decided for you" : `Card payment returned (${kind})`,
  };
}

function least(a: Nanos, b: Nanos): Nanos {
  return a < b ? a : b;
}
