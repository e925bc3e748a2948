import type { UserId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";

/** The account that a name means at sign-in, with the hash of its password if it has one. */
export type SignInAccount = { readonly id: UserId; readonly passwordHash: string | null };

/**
 * The live account of an e-mail address in lower case, the one that has proven it or else the oldest claim; without such
 * an account, the oldest of this user name, since user names are not unique. Teams have no password.
 */
export async function findSignInAccount(db: Reader, name: string): Promise<SignInAccount | undefined> {
  const people = db
    .selectFrom("users")
    .select(["id", "password_hash"])
    .where("deleted_at", "is", null)
    .where("is_team", "=", false);
  const row =
    (await people
      .where("email", "=", name.toLowerCase())
      .orderBy("email_proven_at")
      .orderBy("id")
      .limit(1)
      .executeTakeFirst()) ?? (await people.where("username", "=", name).orderBy("id").limit(1).executeTakeFirst());
  return row && { id: row.id, passwordHash: row.password_hash };
}

/** True while some account has a password hash of the version before, which takes longer to check. */
export async function hasOldHashes(db: Reader): Promise<boolean> {
  const query = db.selectFrom("users").select("id").where("password_hash", "like", "scrypt$%").limit(1);
  return (await query.executeTakeFirst()) !== undefined;
}

/** The hash of an account's password; undefined for an account that is gone or has none. */
export async function findPasswordHash(db: Reader, id: UserId): Promise<string | undefined> {
  const row = await db
    .selectFrom("users")
    .select("password_hash")
    .where("id", "=", id)
    .where("deleted_at", "is", null)
    .executeTakeFirst();
  return row?.password_hash ?? undefined;
}

/** Gives an account another password. */
export async function setPasswordHash(tx: Tx, id: UserId, passwordHash: string): Promise<void> {
  await tx.db.updateTable("users").set({ password_hash: passwordHash }).where("id", "=", id).execute();
}

/** Stores the present password under another hash, unless the password was changed meanwhile. */
export async function replacePasswordHash(tx: Tx, id: UserId, from: string, to: string): Promise<void> {
  await tx.db
    .updateTable("users")
    .set({ password_hash: to })
    .where("id", "=", id)
    .where("password_hash", "=", from)
    .execute();
}

/** Says that an account has a second factor from now on, or none any more. */
export async function setTfa(tx: Tx, id: UserId, isEnabled: boolean): Promise<void> {
  await tx.db
    .updateTable("users")
    .set({ tfa_enabled_at: isEnabled ? tx.now : null })
    .where("id", "=", id)
    .execute();
}

/** Makes an account an administrator's, or an ordinary one again. */
export async function setAdmin(tx: Tx, id: UserId, isAdmin: boolean): Promise<void> {
  await tx.db.updateTable("users").set({ is_admin: isAdmin }).where("id", "=", id).execute();
}
