import type { TfaMethodId, UserId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";

export type Purpose = "sign_in" | "verify" | "authorize" | "phone";
export type Channel = "totp" | "sms" | "email";

/** A code that was sent. */
export type SentCode = { readonly hash: Buffer; readonly sentAt: Date; readonly expiresAt: Date };

export type Challenge = {
  readonly id: bigint;
  readonly userId: UserId;
  readonly purpose: Purpose;
  readonly secretSha256: Buffer;
  readonly channel: Channel | undefined;
  readonly methodId: TfaMethodId | undefined;
  readonly encryptedPhone: string | undefined;
  readonly code: SentCode | undefined;
  readonly teamId: UserId | undefined;
};

type NewChallenge = Pick<Challenge, "userId" | "purpose" | "secretSha256"> &
  Partial<Pick<Challenge, "channel" | "methodId" | "teamId">> & { readonly expiresAt: Date };

/** Rows that one new challenge clears away. */
const CLEARED_MAX = 20;

export async function insertChallenge(tx: Tx, challenge: NewChallenge): Promise<Challenge> {
  const over = tx.db.selectFrom("tfa_challenges").select("id").where("expires_at", "<=", tx.now);
  await tx.db
    .deleteFrom("tfa_challenges")
    .where("id", "in", over.orderBy("id").limit(CLEARED_MAX).forUpdate().skipLocked())
    .execute();
  const row = await tx.db
    .insertInto("tfa_challenges")
    .values({
      user_id: challenge.userId,
      purpose: challenge.purpose,
      secret_sha256: challenge.secretSha256,
      channel: challenge.channel ?? null,
      method_id: challenge.methodId ?? null,
      team_id: challenge.teamId ?? null,
      created_at: tx.now,
      expires_at: challenge.expiresAt,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
  return toChallenge(row);
}

/** The open challenge of a secret. */
export async function findChallenge(db: Reader, secretSha256: Buffer, now: Date): Promise<Challenge | undefined> {
  const row = await openOnes(db, now).where("secret_sha256", "=", secretSha256).executeTakeFirst();
  return row && toChallenge(row);
}

/** The newest open challenge of an account for a purpose, by which a code was sent this way. */
export async function findSentChallenge(
  tx: Tx,
  { userId, purpose, channel }: { readonly userId: UserId; readonly purpose: Purpose; readonly channel: Channel },
): Promise<Challenge | undefined> {
  const row = await openOnes(tx.db, tx.now)
    .where("user_id", "=", userId)
    .where("purpose", "=", purpose)
    .where("channel", "=", channel)
    .where("code_hmac", "is not", null)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row && toChallenge(row);
}

/** Puts a sent code into a challenge, in place of an earlier one; the challenge lasts at least as long as the code. */
export async function putCode(
  tx: Tx,
  id: bigint,
  to: { readonly channel: Channel; readonly methodId?: TfaMethodId | undefined; readonly encryptedPhone?: string },
  code: SentCode,
): Promise<void> {
  await tx.db
    .updateTable("tfa_challenges")
    .set((eb) => ({
      channel: to.channel,
      method_id: to.methodId ?? null,
      sealed_phone: to.encryptedPhone ?? null,
      code_hmac: code.hash,
      code_sent_at: code.sentAt,
      code_expires_at: code.expiresAt,
      expires_at: eb.fn<Date>("greatest", ["expires_at", eb.val(code.expiresAt)]),
    }))
    .where("id", "=", id)
    .execute();
}

/** Takes back a code that could not be sent. */
export async function dropCode(tx: Tx, secretSha256: Buffer): Promise<void> {
  await tx.db
    .updateTable("tfa_challenges")
    .set({ code_hmac: null, code_sent_at: null, code_expires_at: null })
    .where("secret_sha256", "=", secretSha256)
    .execute();
}

/** Uses a challenge up. */
export async function spendChallenge(tx: Tx, id: bigint): Promise<void> {
  await tx.db.updateTable("tfa_challenges").set({ used_at: tx.now }).where("id", "=", id).execute();
}

/** Uses up all challenges of an account, as when its methods change. */
export async function spendChallengesOf(tx: Tx, userId: UserId): Promise<void> {
  await tx.db
    .updateTable("tfa_challenges")
    .set({ used_at: tx.now })
    .where("user_id", "=", userId)
    .where("used_at", "is", null)
    .execute();
}

/** Numbers of codes that were sent since then: to this mailbox or phone by anybody, and by this account to anybody. */
export async function countSends(
  tx: Tx,
  { userId, target, since }: { readonly userId: UserId; readonly target: Buffer; readonly since: Date },
): Promise<{ readonly toTarget: number; readonly byUser: number }> {
  const sends = tx.db.selectFrom("tfa_sends").where("sent_at", ">", since);
  const [toTarget, byUser] = [
    await sends
      .select((eb) => eb.fn.countAll().as("count"))
      .where("target_hmac", "=", target)
      .executeTakeFirstOrThrow(),
    await sends
      .select((eb) => eb.fn.countAll().as("count"))
      .where("user_id", "=", userId)
      .executeTakeFirstOrThrow(),
  ];
  return { toTarget: Number(toTarget.count), byUser: Number(byUser.count) };
}

/** Keeps that a code was sent; what is older than `since` is forgotten. */
export async function noteSend(
  tx: Tx,
  { userId, target, since }: { readonly userId: UserId; readonly target: Buffer; readonly since: Date },
): Promise<void> {
  await tx.db.deleteFrom("tfa_sends").where("user_id", "=", userId).where("sent_at", "<=", since).execute();
  await tx.db.insertInto("tfa_sends").values({ user_id: userId, target_hmac: target, sent_at: tx.now }).execute();
}

const COLUMNS = [
  "id",
  "user_id",
  "purpose",
  "secret_sha256",
  "channel",
  "method_id",
  "sealed_phone",
  "code_hmac",
  "code_sent_at",
  "code_expires_at",
  "team_id",
] as const;

function openOnes(db: Reader, now: Date) {
  return db.selectFrom("tfa_challenges").select(COLUMNS).where("used_at", "is", null).where("expires_at", ">", now);
}

type ChallengeRow = Awaited<ReturnType<ReturnType<typeof openOnes>["executeTakeFirstOrThrow"]>>;

function toChallenge(row: ChallengeRow): Challenge {
  const { code_hmac: hash, code_sent_at: sentAt, code_expires_at: expiresAt } = row;
  const isSent = hash !== null && sentAt !== null && expiresAt !== null;
  return {
    id: row.id,
    userId: row.user_id,
    // The database refuses other words.
    purpose: row.purpose as Purpose,
    secretSha256: row.secret_sha256,
    channel: (row.channel as Channel | null) ?? undefined,
    methodId: row.method_id ?? undefined,
    encryptedPhone: row.sealed_phone ?? undefined,
    code: isSent ? { hash, sentAt, expiresAt } : undefined,
    teamId: row.team_id ?? undefined,
  };
}
