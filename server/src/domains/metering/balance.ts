import type { UserId } from "../../base/ids.ts";
import { nanos, type Nanos } from "../../base/money.ts";
import type { Reader } from "../../db/transaction.ts";
import { balanceOf, readMeans } from "../ledger/index.ts";
import { accruedOf } from "./accrued.ts";

/** A user's credit as it will be once everything that was used is charged, and what of it can be spent now. */
export type ShownBalance = { readonly balanceNanos: Nanos; readonly availableNanos: Nanos };

/**
 * What has accrued is gone from a balance although nobody has posted it yet. What is set aside covers it, so that it is
 * not taken from what can be spent twice; and more than the ledger would give away now is never shown. Read it in one
 * snapshot: between the two a settlement may post what has accrued.
 */
export async function readBalance(db: Reader, now: Date, userId: UserId): Promise<ShownBalance> {
  const accrued = await accruedOf(db, now, userId);
  const { balance, available } = await balanceOf(db, userId);
  const means = (await readMeans(db, [userId], "credit")).get(userId);
  // What would bring it below its floor cannot be charged.
  const floor = means === undefined ? 0n : means.aboveZeroNanos - means.aboveFloorNanos;
  const lowest = balance < floor ? balance : floor;
  const shown = balance - accrued > lowest ? balance - accrued : lowest;
  return { balanceNanos: nanos(shown), availableNanos: nanos(available < shown ? available : shown) };
}

/** The same of many. */
export async function readBalances(
  db: Reader,
  now: Date,
  userIds: readonly UserId[],
): Promise<ReadonlyMap<UserId, ShownBalance>> {
  const shown = new Map<UserId, ShownBalance>();
  for (const userId of userIds) shown.set(userId, await readBalance(db, now, userId));
  return shown;
}
