import type { UserId } from "../../../base/ids.ts";
import { nanos, type Nanos } from "../../../base/money.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { balanceOf, lockCredit, readMeans } from "../ledger/index.ts";
import { accrualsOf, uncoveredOf } from "./accrued.ts";

/** A user's credit as it will be once everything that was used is charged, and what of it can be spent now. */
export type ShownBalance = { readonly balanceNanos: Nanos; readonly availableNanos: Nanos };

/**
 * What has accrued is gone from a balance although nobody has posted it yet. What is set aside for an instance or a volume
 * covers what has accrued there, so that it is not taken from what can be spent twice; and more than the ledger would give
 * away now is never shown. Read it in one snapshot: between the two a settlement may post what has accrued.
 */
export async function readBalance(db: Reader, now: Date, userId: UserId): Promise<ShownBalance> {
  const accruals = await accrualsOf(db, now, userId);
  const accrued = accruals.reduce((total, { amountNanos }) => total + amountNanos, 0n);
  const uncovered = await uncoveredOf(db, accruals);
  const { balance, available } = await balanceOf(db, userId);
  const means = (await readMeans(db, [userId], "credit")).get(userId);
  // What would bring it below its floor cannot be charged.
  const floor = means === undefined ? 0n : means.aboveZeroNanos - means.aboveMinimumNanos;
  const lowest = balance < floor ? balance : floor;
  const shown = atLeast(lowest, balance - accrued);
  const spendable = [available, shown, atLeast(lowest, available - uncovered)];
  const least = spendable.reduce((low, amount) => (amount < low ? amount : low));
  return { balanceNanos: nanos(shown), availableNanos: nanos(least) };
}

/** What a user can spend now; its credit stays locked until the commit. */
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
