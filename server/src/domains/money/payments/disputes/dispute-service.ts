// Effects of a dispute on the account that made the payment, other than money.
import { forbidden } from "../../../../base/errors.ts";
import type { PaymentId, UserId } from "../../../../base/ids.ts";
import type { Log } from "../../../../base/log.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { balanceOf } from "../../ledger/index.ts";
import { centsText, NANOS_PER_CENT } from "../rules/cents.ts";
import { DISPUTE_PREFIX, hasDispute } from "./dispute-store.ts";
import { placePayoutHold, releasePayoutHold } from "../payouts/payout-hold-service.ts";
import { listHeldAmong } from "../payouts/payout-hold-store.ts";

const KIND = "disputed_money";

type Disputed = { readonly userId: UserId; readonly paymentId: PaymentId; readonly key: string };

/** Flags the account of a disputed payment; its open payout hold is the flag. A refund flags no account. */
export async function flagDisputed(tx: Tx, log: Log, { userId, paymentId, key }: Disputed): Promise<void> {
  if (!key.startsWith(DISPUTE_PREFIX)) return;
  const reason = `Card payment ${paymentId} of this account is disputed.`;
  await placePayoutHold(tx, { userId, kind: KIND, reason });
  const about = { payment_id: paymentId, user_id: userId, return: key };
  tx.afterCommit(() => log.warn(about, "a card payment is disputed: its account is flagged"));
}

/** Removes the flag when the operator has won all disputes of the account. */
export async function unflagDisputed(tx: Tx, { userId, key }: Omit<Disputed, "paymentId">): Promise<void> {
  if (!key.startsWith(DISPUTE_PREFIX) || (await hasDispute(tx.db, userId))) return;
  await releasePayoutHold(tx, {
    userId,
    kind: KIND,
    reason: "All disputes of this account were decided for the operator.",
  });
}

/** Those of these users whose accounts are flagged for a dispute. */
export function listFlagged(db: Reader, userIds: readonly UserId[]): Promise<ReadonlySet<UserId>> {
  return listHeldAmong(db, userIds, KIND);
}

/**
 * Refuses a card payment of a flagged account beyond its debt, or beyond the minimum of a payment when the debt is
 * less; without a debt it refuses every card payment.
 */
export async function refuseDisputed(
  tx: Tx,
  { userId, cents, leastCents }: { readonly userId: UserId; readonly cents: bigint; readonly leastCents: bigint },
): Promise<void> {
  if (!(await listFlagged(tx.db, [userId])).has(userId)) return;
  const { available } = await balanceOf(tx.db, userId);
  const owedCents = available < 0n ? (-available + NANOS_PER_CENT - 1n) / NANOS_PER_CENT : 0n;
  const mostCents = owedCents > 0n && owedCents < leastCents ? leastCents : owedCents;
  if (cents <= mostCents) return;
  const most =
    mostCents === 0n
      ? "It owes nothing, so no card payment is taken."
      : `It owes ${centsText(owedCents)}: pay at most ${centsText(mostCents)}.`;
  throw forbidden(`A card payment of this account is disputed. ${most}`, "payment_disputed", {
    extra: { field: "amount" },
  });
}

/** More than any credit: all cash of a flagged account may still be disputed. */
export const ALL_CASH: Nanos = nanos(2n ** 62n);
