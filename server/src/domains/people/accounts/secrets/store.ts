import { sql } from "kysely";
import type { Encryption } from "../../../../base/encryption.ts";
import type { UserId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import type { Secret } from "./rules/secret-name.ts";

export async function listSecretNames(db: Reader, userId: UserId): Promise<readonly string[]> {
  const rows = await db
    .selectFrom("account_secrets")
    .select("name")
    .where("user_id", "=", userId)
    .orderBy(sql`name collate "C"`)
    .execute();
  return rows.map(({ name }) => name);
}

/**
 * The secrets of these users, by name; users without secrets are left out, and so are values that can no longer be
 * decrypted.
 */
export async function listSecrets(
  db: Reader,
  userIds: readonly UserId[],
  encryption: Encryption,
): Promise<ReadonlyMap<UserId, readonly Secret[]>> {
  if (userIds.length === 0) return new Map();
  const rows = await db
    .selectFrom("account_secrets")
    .select(["user_id", "name", "sealed_value"])
    .where("user_id", "=", sql<UserId>`any(${userIds}::integer[])`)
    .orderBy("user_id")
    .orderBy(sql`name collate "C"`)
    .execute();
  const secrets = new Map<UserId, Secret[]>();
  for (const { user_id: userId, name, sealed_value: encrypted } of rows) {
    const value = encryption.decrypt(encrypted, contextOf(userId, name));
    if (value === undefined) continue;
    const own = secrets.get(userId);
    if (own === undefined) secrets.set(userId, [{ name, value }]);
    else own.push({ name, value });
  }
  return secrets;
}

/** Inserts a secret; false when its name is taken. */
export async function insertSecret(
  tx: Tx,
  userId: UserId,
  { name, value }: Secret,
  encryption: Encryption,
): Promise<boolean> {
  const encrypted = encryption.encrypt(value, contextOf(userId, name));
  const result = await tx.db
    .insertInto("account_secrets")
    .values({ user_id: userId, name, sealed_value: encrypted, created_at: tx.now, updated_at: tx.now })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

/** Changes a secret; false when there is none of this name. */
export async function updateSecret(
  tx: Tx,
  userId: UserId,
  { name, value }: Secret,
  encryption: Encryption,
): Promise<boolean> {
  const result = await tx.db
    .updateTable("account_secrets")
    .set({ sealed_value: encryption.encrypt(value, contextOf(userId, name)), updated_at: tx.now })
    .where("user_id", "=", userId)
    .where("name", "=", name)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Deletes a secret; false when there is none of this name. */
export async function deleteSecret(tx: Tx, userId: UserId, name: string): Promise<boolean> {
  const result = await tx.db
    .deleteFrom("account_secrets")
    .where("user_id", "=", userId)
    .where("name", "=", name)
    .executeTakeFirst();
  return result.numDeletedRows === 1n;
}

function contextOf(userId: UserId, name: string): string {
  return `account secret ${userId} ${name}`;
}
