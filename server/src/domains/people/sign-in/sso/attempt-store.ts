import type { Tx } from "../../../../db/transaction.ts";

/** Rows that one new sign-in clears away: more than it adds. */
const CLEARED_MAX = 20;

/** Keeps that a browser was sent to the issuer, until then. */
export async function insertSsoAttempt(
  tx: Tx,
  {
    stateSha256,
    redirectUri,
    expiresAt,
  }: { readonly stateSha256: Buffer; readonly redirectUri: string; readonly expiresAt: Date },
): Promise<void> {
  const over = tx.db.selectFrom("sso_attempts").select("state_sha256").where("expires_at", "<=", tx.now);
  await tx.db
    .deleteFrom("sso_attempts")
    .where("state_sha256", "in", over.orderBy("expires_at").limit(CLEARED_MAX).forUpdate().skipLocked())
    .execute();
  await tx.db
    .insertInto("sso_attempts")
    .values({ state_sha256: stateSha256, redirect_uri: redirectUri, expires_at: expiresAt })
    .execute();
}

/** Uses a sign-in up, and returns the address that it named; undefined when it is unknown, over or used. */
export async function takeSsoAttempt(tx: Tx, stateSha256: Buffer): Promise<string | undefined> {
  const row = await tx.db
    .deleteFrom("sso_attempts")
    .where("state_sha256", "=", stateSha256)
    .returning(["redirect_uri", "expires_at"])
    .executeTakeFirst();
  return row === undefined || row.expires_at <= tx.now ? undefined : row.redirect_uri;
}
