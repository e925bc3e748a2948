import type { UserId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { OPEN, type FactorLock } from "../rules/lock.ts";

/** The locks of an account's factors; a factor without a wrong code has none. */
export async function readLocks(db: Reader, userId: UserId): Promise<ReadonlyMap<string, FactorLock>> {
  const rows = await db
    .selectFrom("tfa_locks")
    .select(["factor", "fail_count", "lock_count", "locked_until"])
    .where("user_id", "=", userId)
    .execute();
  return new Map(
    rows.map((row) => [
      row.factor,
      { failCount: row.fail_count, lockCount: row.lock_count, lockedUntil: row.locked_until ?? undefined },
    ]),
  );
}

export async function readLock(db: Reader, userId: UserId, factor: string): Promise<FactorLock> {
  return (await readLocks(db, userId)).get(factor) ?? OPEN;
}

export async function putLock(
  tx: Tx,
  userId: UserId,
  factor: string,
  { failCount, lockCount, lockedUntil }: FactorLock,
): Promise<void> {
  const content = { fail_count: failCount, lock_count: lockCount, locked_until: lockedUntil ?? null };
  await tx.db
    .insertInto("tfa_locks")
    .values({ user_id: userId, factor, ...content })
    .onConflict((conflict) => conflict.columns(["user_id", "factor"]).doUpdateSet(content))
    .execute();
}

export async function deleteLock(tx: Tx, userId: UserId, factor: string): Promise<void> {
  await tx.db.deleteFrom("tfa_locks").where("user_id", "=", userId).where("factor", "=", factor).execute();
}

/**
 * Deletes the locks of an account whose last method is deleted. That of new phone numbers stays: who adds and deletes a
 * method again and again gets no more guesses at the code that was sent to a phone.
 */
export async function deleteLocks(tx: Tx, userId: UserId): Promise<void> {
  await tx.db.deleteFrom("tfa_locks").where("user_id", "=", userId).where("factor", "<>", "phone").execute();
}
