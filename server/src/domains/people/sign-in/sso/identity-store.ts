import { sql } from "kysely";
import type { UserId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";

/** A person by the word of their issuer. */
export type SsoName = { readonly issuer: string; readonly subject: string };

/** Lets one sign-in of a person at a time decide which account is theirs. Taken before any row lock. */
export async function lockSsoName(tx: Tx, { issuer, subject }: SsoName): Promise<void> {
  const name = JSON.stringify(["sso", issuer, subject]);
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx.db);
}

/** The account of a person, live or not. */
export async function findSsoAccount(db: Reader, { issuer, subject }: SsoName): Promise<UserId | undefined> {
  const row = await db
    .selectFrom("sso_identities")
    .select("user_id")
    .where("issuer", "=", issuer)
    .where("subject", "=", subject)
    .executeTakeFirst();
  return row?.user_id;
}

/** The accounts among these that a person of the issuer signs in to. */
export async function listLinkedAccounts(
  db: Reader,
  issuer: string,
  userIds: readonly UserId[],
): Promise<ReadonlySet<UserId>> {
  if (userIds.length === 0) return new Set();
  const rows = await db
    .selectFrom("sso_identities")
    .select("user_id")
    .where("issuer", "=", issuer)
    .where("user_id", "in", userIds)
    .execute();
  return new Set(rows.map((row) => row.user_id));
}

/** The issuers whose people sign in to this account. */
export async function listIssuersOf(db: Reader, userId: UserId): Promise<readonly string[]> {
  const rows = await db.selectFrom("sso_identities").select("issuer").where("user_id", "=", userId).execute();
  return rows.map((row) => row.issuer);
}

export async function insertSsoIdentity(tx: Tx, userId: UserId, { issuer, subject }: SsoName): Promise<void> {
  await tx.db
    .insertInto("sso_identities")
    .values({ user_id: userId, issuer, subject, created_at: tx.now, last_used_at: tx.now })
    .execute();
}

export async function noteSsoUse(tx: Tx, { issuer, subject }: SsoName): Promise<void> {
  await tx.db
    .updateTable("sso_identities")
    .set({ last_used_at: tx.now })
    .where("issuer", "=", issuer)
    .where("subject", "=", subject)
    .execute();
}

/** Forgets the account of a person, as when it was deleted. */
export async function deleteSsoIdentity(tx: Tx, { issuer, subject }: SsoName): Promise<void> {
  await tx.db.deleteFrom("sso_identities").where("issuer", "=", issuer).where("subject", "=", subject).execute();
}
