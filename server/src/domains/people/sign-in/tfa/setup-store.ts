import type { UserId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";

/** Keeps the secret of an app whose first code has not been seen yet, in place of an earlier one. */
export async function putSetup(tx: Tx, userId: UserId, encryptedSecret: string, expiresAt: Date): Promise<void> {
  const content = { sealed_secret: encryptedSecret, expires_at: expiresAt };
  await tx.db
    .insertInto("tfa_setups")
    .values({ user_id: userId, ...content })
    .onConflict((conflict) => conflict.column("user_id").doUpdateSet(content))
    .execute();
}

export async function findSetup(tx: Tx, userId: UserId): Promise<string | undefined> {
  const row = await tx.db
    .selectFrom("tfa_setups")
    .select("sealed_secret")
    .where("user_id", "=", userId)
    .where("expires_at", ">", tx.now)
    .executeTakeFirst();
  return row?.sealed_secret;
}

export async function deleteSetup(tx: Tx, userId: UserId): Promise<void> {
  await tx.db.deleteFrom("tfa_setups").where("user_id", "=", userId).execute();
}

/** Lets an account add methods until then. */
export async function putAuthorization(tx: Tx, userId: UserId, expiresAt: Date): Promise<void> {
  await tx.db
    .insertInto("tfa_authorizations")
    .values({ user_id: userId, expires_at: expiresAt })
    .onConflict((conflict) => conflict.column("user_id").doUpdateSet({ expires_at: expiresAt }))
    .execute();
}

/** True while the account may add methods. */
export async function isAuthorized(db: Reader, userId: UserId, now: Date): Promise<boolean> {
  const row = await db
    .selectFrom("tfa_authorizations")
    .select("user_id")
    .where("user_id", "=", userId)
    .where("expires_at", ">", now)
    .executeTakeFirst();
  return row !== undefined;
}

export async function deleteAuthorization(tx: Tx, userId: UserId): Promise<void> {
  await tx.db.deleteFrom("tfa_authorizations").where("user_id", "=", userId).execute();
}
