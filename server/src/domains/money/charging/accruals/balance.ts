import type { UserId } from "../../../../base/ids.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { balanceOf, lockCredit, readMeans } from "../../ledger/index.ts";
import { accrualsOf, uncoveredOf } from "./accrued.ts";

/** A user's credit as it will be once all usage is charged, and the part of it that can be spent now. */
export type ShownBalance = { readonly balanceNanos: Nanos; readonly availableNanos: Nanos };

/**
 * Accrued usage counts as spent before it is charged. The hold of an instance or volume covers the accrual there, so
 * that it is not subtracted twice, and the spendable amount never exceeds the amount that the ledger would give away
 * now. Read it in one snapshot: otherwise a settlement may charge the accrual between two reads.
 */
export async function readBalance(db: Reader, now: Date, userId: UserId): Promise<ShownBalance> {
  const accruals = await accrualsOf(db, now, userId);
  const accrued = accruals.reduce((total, { amountNanos }) => total + amountNanos, 0n);
  const uncovered = await uncoveredOf(db, accruals);
  const { balance, available } = await balanceOf(db, userId);
  const means = (await readMeans(db, [userId], "credit")).get(userId);
  // Usage that would bring the balance below its minimum cannot be charged.
  const minimum = means === undefined ? 0n : means.aboveZeroNanos - means.aboveMinimumNanos;
  const lowest = balance < minimum ? balance : minimum;
  const shown = atLeast(lowest, balance - accrued);
  const spendable = [available, shown, atLeast(lowest, available - uncovered)];
  const least = spendable.reduce((low, amount) => (amount < low ? amount : low));
  return { balanceNanos: nanos(shown), availableNanos: nanos(least) };
}

/** The amount that a user can spend now; their credit stays locked until the transaction ends. */
export async function lockSpendable(tx: Tx, userId: UserId): Promise<Nanos> {
  await lockCredit(tx, userId);
  return (await readBalance(tx.db, tx.now, userId)).availableNanos;
}

/** The balances of many users. */
export async function readBalances(
  db: Reader,
  now: Date,
  userIds: readonly UserId[],
): Promise<ReadonlyMap<UserId, ShownBalance>> {
  const shown = new Map<UserId, ShownBalance>();
  for (const userId of userIds) shown.set(userId, await readBalance(db, now, userId));
  return shown;
}

function atLeast(lowest: bigint, amount: bigint): bigint {
  return amount > lowest ? amount : lowest;
}
