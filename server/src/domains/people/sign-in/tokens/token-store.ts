import type { SignInTokenId, UserId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";

export type TokenPurpose = "link" | "invitation" | "reset";

export type SignInToken = {
  readonly id: SignInTokenId;
  /** The account that the token is for; for an invitation the account that was made with it. */
  readonly userId: UserId | undefined;
  /** The only address that an invitation is good for. */
  readonly email: string | undefined;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly usedAt: Date | undefined;
};

type NewToken = {
  readonly purpose: TokenPurpose;
  readonly tokenSha256: Buffer;
  readonly userId?: UserId;
  readonly email?: string | undefined;
  readonly createdById?: UserId;
  readonly expiresAt: Date;
};

/** Rows that one new token clears away. */
const CLEARED_MAX = 20;
/** Tokens are kept for a while after their end, so that an administrator sees which invitations were used. */
const KEPT_MS = 30 * 86_400_000;
const LISTED_MAX = 1_000;

export async function insertToken(tx: Tx, token: NewToken): Promise<SignInToken> {
  const keptSince = new Date(tx.now.getTime() - KEPT_MS);
  const over = tx.db.selectFrom("sign_in_tokens").select("id").where("expires_at", "<=", keptSince);
  await tx.db
    .deleteFrom("sign_in_tokens")
    .where("id", "in", over.orderBy("id").limit(CLEARED_MAX).forUpdate().skipLocked())
    .execute();
  const row = await tx.db
    .insertInto("sign_in_tokens")
    .values({
      purpose: token.purpose,
      token_sha256: token.tokenSha256,
      user_id: token.userId ?? null,
      email: token.email ?? null,
      created_by_id: token.createdById ?? null,
      created_at: tx.now,
      expires_at: token.expiresAt,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
  return toToken(row);
}

/** Uses a token up: of two calls at once, one gets it. Undefined when it is unknown, used, revoked or over. */
export async function takeToken(
  tx: Tx,
  { purpose, tokenSha256 }: Pick<NewToken, "purpose" | "tokenSha256">,
): Promise<SignInToken | undefined> {
  const row = await tx.db
    .updateTable("sign_in_tokens")
    .set({ used_at: tx.now })
    .where("purpose", "=", purpose)
    .where("token_sha256", "=", tokenSha256)
    .where("used_at", "is", null)
    .where("revoked_at", "is", null)
    .where("expires_at", ">", tx.now)
    .returning(COLUMNS)
    .executeTakeFirst();
  return row && toToken(row);
}

/** Notes the account that an invitation became. */
export async function noteInvited(tx: Tx, id: SignInTokenId, userId: UserId): Promise<void> {
  await tx.db.updateTable("sign_in_tokens").set({ user_id: userId }).where("id", "=", id).execute();
}

/** Revokes all unused tokens of an account for a purpose. */
export async function revokeTokensOf(tx: Tx, userId: UserId, purpose: TokenPurpose): Promise<void> {
  await tx.db
    .updateTable("sign_in_tokens")
    .set({ revoked_at: tx.now })
    .where("user_id", "=", userId)
    .where("purpose", "=", purpose)
    .where("used_at", "is", null)
    .where("revoked_at", "is", null)
    .execute();
}

/** Revokes an invitation; false when there is none that is open. */
export async function revokeInvitation(tx: Tx, id: SignInTokenId): Promise<boolean> {
  const result = await tx.db
    .updateTable("sign_in_tokens")
    .set({ revoked_at: tx.now })
    .where("id", "=", id)
    .where("purpose", "=", "invitation")
    .where("used_at", "is", null)
    .where("revoked_at", "is", null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Invitations that were not revoked, the newest first. */
export async function listInvitations(db: Reader): Promise<readonly SignInToken[]> {
  const rows = await db
    .selectFrom("sign_in_tokens")
    .select(COLUMNS)
    .where("purpose", "=", "invitation")
    .where("revoked_at", "is", null)
    .orderBy("id", "desc")
    .limit(LISTED_MAX)
    .execute();
  return rows.map(toToken);
}

const COLUMNS = ["id", "user_id", "email", "created_at", "expires_at", "used_at"] as const;

function toToken(row: {
  readonly id: SignInTokenId;
  readonly user_id: UserId | null;
  readonly email: string | null;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly used_at: Date | null;
}): SignInToken {
  return {
    id: row.id,
    userId: row.user_id ?? undefined,
    email: row.email ?? undefined,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    usedAt: row.used_at ?? undefined,
  };
}
