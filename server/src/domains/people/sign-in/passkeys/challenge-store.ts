import type { UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";

/** A challenge of an account that adds a passkey, or of a sign-in, which names nobody. */
export type StoredChallenge = { readonly userId: UserId | undefined };

type ChallengeKey = { readonly challengeSha256: Buffer; readonly browserSha256: Buffer };

/** Rows that one new challenge clears away: more than it adds. */
const CLEARED_MAX = 20;

export async function insertPasskeyChallenge(
  tx: Tx,
  { challengeSha256, browserSha256, userId, expiresAt }: ChallengeKey & StoredChallenge & { readonly expiresAt: Date },
): Promise<void> {
  const over = tx.db.selectFrom("passkey_challenges").select("challenge_sha256").where("expires_at", "<=", tx.now);
  await tx.db
    .deleteFrom("passkey_challenges")
    .where("challenge_sha256", "in", over.orderBy("expires_at").limit(CLEARED_MAX).forUpdate().skipLocked())
    .execute();
  await tx.db
    .insertInto("passkey_challenges")
    .values({
      challenge_sha256: challengeSha256,
      browser_sha256: browserSha256,
      user_id: userId ?? null,
      expires_at: expiresAt,
    })
    .execute();
}

/**
 * Uses a challenge up; undefined when it is unknown, over, used, or another browser's. A challenge that another browser
 * sends is used up as well: its owner's browser never sends it there.
 */
export async function takePasskeyChallenge(
  tx: Tx,
  { challengeSha256, browserSha256 }: ChallengeKey,
): Promise<StoredChallenge | undefined> {
  const row = await tx.db
    .deleteFrom("passkey_challenges")
    .where("challenge_sha256", "=", challengeSha256)
    .returning(["browser_sha256", "user_id", "expires_at"])
    .executeTakeFirst();
  if (row === undefined || row.expires_at <= tx.now || !row.browser_sha256.equals(browserSha256)) return undefined;
  return { userId: row.user_id ?? undefined };
}
