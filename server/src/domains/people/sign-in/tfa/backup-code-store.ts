import type { UserId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";

/** Stores the hashes of new backup codes; all earlier ones are invalid from then on. */
export async function replaceBackupCodes(tx: Tx, userId: UserId, hashes: readonly Buffer[]): Promise<void> {
  await deleteBackupCodes(tx, userId);
  await tx.db
    .insertInto("tfa_backup_codes")
    .values(hashes.map((hash) => ({ user_id: userId, code_hmac: hash, created_at: tx.now })))
    .execute();
}

export async function deleteBackupCodes(tx: Tx, userId: UserId): Promise<void> {
  await tx.db
    .updateTable("tfa_backup_codes")
    .set({ deleted_at: tx.now })
    .where("user_id", "=", userId)
    .where("used_at", "is", null)
    .where("deleted_at", "is", null)
    .execute();
}

/** Uses a backup code up; false when it is wrong or was used. */
export async function takeBackupCode(tx: Tx, userId: UserId, hash: Buffer): Promise<boolean> {
  const result = await tx.db
    .updateTable("tfa_backup_codes")
    .set({ used_at: tx.now })
    .where("user_id", "=", userId)
    .where("code_hmac", "=", hash)
    .where("used_at", "is", null)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** The number of backup codes that are left. */
export async function countBackupCodes(db: Reader, userId: UserId): Promise<number> {
  const { count } = await db
    .selectFrom("tfa_backup_codes")
    .select((eb) => eb.fn.countAll().as("count"))
    .where("user_id", "=", userId)
    .where("used_at", "is", null)
    .where("deleted_at", "is", null)
    .executeTakeFirstOrThrow();
  return Number(count);
}
