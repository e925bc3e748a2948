import { sql } from "kysely";
import type { UserId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { CLAIM_EMAIL_DOMAIN } from "../users/rules/user.ts";

/** The proof of an address: a token mailed there came back, an administrator or an issuer vouched for it, or the server gave it. */
export type ProvenBy = "mail" | "operator" | "server" | "issuer";

/** A live account that names an address as its own. */
export type Claim = { readonly userId: UserId; readonly isProven: boolean };

/** Lets one transaction at a time decide who owns an address. Taken before any row lock. */
export async function lockAddress(tx: Tx, email: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`user address ${email}`}, 0))`.execute(tx.db);
}

export async function listClaims(db: Reader, email: string): Promise<readonly Claim[]> {
  const rows = await db
    .selectFrom("users")
    .select(["id", "email_proven_at"])
    .where("email", "=", email)
    .where("deleted_at", "is", null)
    .orderBy("id")
    .execute();
  return rows.map((row) => ({ userId: row.id, isProven: row.email_proven_at !== null }));
}

/**
 * Takes an address from the other accounts that claim it, and returns them. They keep their ids and everything else.
 */
export async function displaceClaims(tx: Tx, email: string, exceptId: UserId | undefined): Promise<readonly UserId[]> {
  const { rows } = await sql<{ id: UserId }>`
    update users set email = 'account-' || id || ${`@${CLAIM_EMAIL_DOMAIN}`}::text
    where email = ${email} and deleted_at is null and email_proven_at is null and id <> ${exceptId ?? 0}::integer
    returning id
  `.execute(tx.db);
  return rows.map(({ id }) => id);
}

export async function setProven(tx: Tx, userId: UserId, provenBy: ProvenBy): Promise<void> {
  await tx.db
    .updateTable("users")
    .set({ email_proven_at: tx.now, email_proven_by: provenBy })
    .where("id", "=", userId)
    .execute();
}

/** Gives an account another address, unproven. */
export async function setClaim(tx: Tx, userId: UserId, email: string): Promise<void> {
  await tx.db
    .updateTable("users")
    .set({ email, email_proven_at: null, email_proven_by: null })
    .where("id", "=", userId)
    .execute();
}

export type Proof = { readonly email: string; readonly sentAt: Date; readonly expiresAt: Date };

/** Stores the token's hash in place of an earlier one, which becomes invalid. */
export async function putProof(
  tx: Tx,
  { userId, email, tokenSha256, expiresAt }: Pick<Proof, "email" | "expiresAt"> & ProofKey,
): Promise<void> {
  const content = { email, token_sha256: tokenSha256, sent_at: tx.now, expires_at: expiresAt };
  await tx.db
    .insertInto("email_proofs")
    .values({ user_id: userId, ...content })
    .onConflict((conflict) => conflict.column("user_id").doUpdateSet(content))
    .execute();
  await tx.db.insertInto("email_proof_mails").values({ email, sent_at: tx.now }).execute();
}

type ProofKey = { readonly userId: UserId; readonly tokenSha256: Buffer };

/** Uses up an account's token, and returns the address that it was sent to; undefined for an invalid token. */
export async function takeProof(tx: Tx, { userId, tokenSha256 }: ProofKey): Promise<string | undefined> {
  const row = await tx.db
    .deleteFrom("email_proofs")
    .where("user_id", "=", userId)
    .where("token_sha256", "=", tokenSha256)
    .where("expires_at", ">", tx.now)
    .returning("email")
    .executeTakeFirst();
  return row?.email;
}

/** Times since `since` at which tokens were mailed to an address, oldest first; older rows are deleted. */
export async function listProofMails(tx: Tx, email: string, since: Date): Promise<readonly Date[]> {
  await tx.db.deleteFrom("email_proof_mails").where("email", "=", email).where("sent_at", "<=", since).execute();
  const rows = await tx.db
    .selectFrom("email_proof_mails")
    .select("sent_at")
    .where("email", "=", email)
    .orderBy("sent_at")
    .execute();
  return rows.map((row) => row.sent_at);
}
