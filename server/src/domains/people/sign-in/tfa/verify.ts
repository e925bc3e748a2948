import { timingSafeEqual } from "node:crypto";
import { epochSeconds } from "../../../../base/clock.ts";
import { AppError, invalid, unauthenticated } from "../../../../base/errors.ts";
import type { TfaMethodId, UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import type { SignInMeans } from "../means.ts";
import { fromBase32 } from "../rules/base32.ts";
import { hashCode, readBackupCode } from "../rules/codes.ts";
import { afterFailure, failuresMax, isLocked, type FactorLock } from "../rules/lock.ts";
import { matchTotp } from "../rules/totp.ts";
import { takeBackupCode } from "./backup-code-store.ts";
import { spendChallenge, type Challenge, type Channel, type Purpose } from "./challenge-store.ts";
import { deleteLock, putLock, readLock } from "./lock-store.ts";
import { listMethods, noteUse, type StoredKind, type TfaMethod } from "./method-store.ts";
import { factorOf, methodContext } from "./views.ts";

/** The proof that a call brings. */
export type Proof = {
  readonly channel: Channel;
  readonly code: string | undefined;
  readonly methodId: TfaMethodId | undefined;
  readonly backupCode: string | undefined;
};

/**
 * The outcome of an attempt. A wrong code is an outcome and no exception, since its count has to be committed. It is plain
 * data: a repetition under the same Idempotency-Key gets the same outcome and is no further attempt.
 */
export type Attempt<T> = { readonly done: T } | { readonly refused: Refusal };

type Refusal = {
  readonly reason: "wrong_code" | "wrong_backup_code" | "locked";
  readonly failCount: number;
  /** Seconds since the epoch. */
  readonly lockedUntil: number | null;
  readonly waitMs: number;
};

/** The method that a proof is by; undefined for a backup code and for mail. */
export type Verified = { readonly methodId: TfaMethodId | null; readonly isBackupCode: boolean };

/** The result of an attempt that succeeded; throws for one that did not. */
export function resultOf<T>(attempt: Attempt<T>): T {
  if ("done" in attempt) return attempt.done;
  const { reason, failCount, lockedUntil, waitMs } = attempt.refused;
  const extra = { fail_count: failCount, locked_until: lockedUntil };
  if (reason === "locked") {
    const message = `There were too many wrong codes. Try again in ${Math.ceil(waitMs / 60_000)} minutes.`;
    const shape = { success: false, error: "tfa_locked", detail: message, retry_after_ms: waitMs };
    throw new AppError("rate_limited", "tfa_locked", message, { extra: { ...shape, ...extra } });
  }
  if (reason === "wrong_backup_code") {
    throw unauthenticated("backup_code is wrong or was used.", "invalid_backup_code");
  }
  throw invalid("code", "code is wrong.", "2fa_verification_failed", { extra });
}

/** Looks at a code of a factor unless the factor is locked, and keeps count of wrong ones. */
export async function attempt(
  tx: Tx,
  { userId, factor }: { readonly userId: UserId; readonly factor: string },
  isRight: () => Promise<boolean>,
): Promise<Attempt<true>> {
  const lock = await readLock(tx.db, userId, factor);
  if (isLocked(lock, tx.now)) return refuse("locked", lock, tx.now);
  if (await isRight()) {
    await deleteLock(tx, userId, factor);
    return { done: true };
  }
  const after = afterFailure(lock, { max: failuresMax(factor), now: tx.now });
  await putLock(tx, userId, factor, after);
  return refuse(factor === "backup" ? "wrong_backup_code" : "wrong_code", after, tx.now);
}

function refuse(reason: Refusal["reason"], { failCount, lockedUntil }: FactorLock, now: Date): { refused: Refusal } {
  const until = lockedUntil === undefined ? null : epochSeconds(lockedUntil);
  return { refused: { reason, failCount, lockedUntil: until, waitMs: (lockedUntil?.getTime() ?? 0) - now.getTime() } };
}

/** Checks a second factor. The caller holds the lock of the account. */
export async function verify(
  tx: Tx,
  {
    userId,
    challenge,
    purposes,
  }: { readonly userId: UserId; readonly challenge: Challenge | undefined; readonly purposes: readonly Purpose[] },
  proof: Proof,
  means: SignInMeans,
): Promise<Attempt<Verified>> {
  const { channel, backupCode } = proof;
  if (backupCode !== undefined) {
    const hash = hashCode(means.codeKey, `backup ${userId}`, readBackupCode(backupCode) ?? "");
    const outcome = await attempt(tx, { userId, factor: "backup" }, () => takeBackupCode(tx, userId, hash));
    return "refused" in outcome ? outcome : { done: { methodId: null, isBackupCode: true } };
  }
  const code = readCode(proof.code);
  if (channel === "totp") return verifyApp(tx, userId, { code, methodId: proof.methodId }, means);
  if (challenge === undefined) {
    throw invalid("secret", "secret is required: the one that came when the code was sent", "missing_auth_value");
  }
  if (!purposes.includes(challenge.purpose) || challenge.channel !== channel) throw noChallenge(channel);
  const methodId = challenge.methodId ?? null;
  // A code that went to a number which is no method proves nothing, nor does that of a method that is gone.
  if (channel === "sms" && methodId === null) throw noChallenge(channel);
  if (methodId !== null) await pickMethod(tx, userId, "sms", methodId);
  const factor = channel === "email" ? "email" : `sms:${methodId}`;
  const outcome = await attemptSent(tx, { userId, factor, challenge, code }, means);
  if ("refused" in outcome) return outcome;
  if (methodId !== null) await noteUse(tx, methodId);
  return { done: { methodId, isBackupCode: false } };
}

/** Checks a code that was sent, and uses its challenge up when it is right. */
export async function attemptSent(
  tx: Tx,
  {
    userId,
    factor,
    challenge,
    code,
  }: {
    readonly userId: UserId;
    readonly factor: string;
    readonly challenge: Challenge;
    readonly code: string;
  },
  { codeKey }: SignInMeans,
): Promise<Attempt<true>> {
  const sent = challenge.code;
  if (sent === undefined) throw noChallenge(challenge.channel ?? "sms");
  if (sent.expiresAt <= tx.now) throw invalid("code", "code has expired. Have another one sent.", "2fa_expired");
  const outcome = await attempt(tx, { userId, factor }, async () =>
    timingSafeEqual(hashCode(codeKey, sentContext(challenge), code), sent.hash),
  );
  if ("done" in outcome) await spendChallenge(tx, challenge.id);
  return outcome;
}

/** The owner of the hash of a sent code. */
export const sentContext = ({ secretSha256 }: Pick<Challenge, "secretSha256">) =>
  `challenge ${secretSha256.toString("hex")}`;

async function verifyApp(
  tx: Tx,
  userId: UserId,
  { code, methodId }: { readonly code: string; readonly methodId: TfaMethodId | undefined },
  { encryption }: SignInMeans,
): Promise<Attempt<Verified>> {
  const method = await pickMethod(tx, userId, "totp", methodId);
  const secret = encryption.decrypt(method.encryptedSecret, methodContext(userId, "totp"));
  const bytes = secret === undefined ? undefined : fromBase32(secret);
  if (bytes === undefined) {
    throw new AppError(
      "unavailable",
      "service_unavailable",
      "This method cannot be read on this server. Use another one.",
    );
  }
  const outcome = await attempt(tx, { userId, factor: factorOf(method) }, async () => {
    const step = matchTotp(bytes, code, { now: tx.now, lastStep: method.lastStep });
    if (step === undefined) return false;
    await noteUse(tx, method.id, step);
    return true;
  });
  return "refused" in outcome ? outcome : { done: { methodId: method.id, isBackupCode: false } };
}

/** The method of a kind that a call means. Several of one kind need `tfa_method_id`. */
export async function pickMethod(
  tx: Tx,
  userId: UserId,
  kind: StoredKind,
  methodId: TfaMethodId | undefined,
): Promise<TfaMethod> {
  const ofKind = (await listMethods(tx.db, userId)).filter((method) => method.kind === kind);
  const found = methodId === undefined ? ofKind : ofKind.filter(({ id }) => id === methodId);
  const [method, ...others] = found;
  if (method === undefined) {
    throw invalid("tfa_method", `This account has no such method of kind ${kind}.`, "tfa_method_not_configured");
  }
  if (others.length > 0) {
    throw invalid(
      "tfa_method_id",
      `tfa_method_id is required: there are several methods of kind ${kind}`,
      "missing_params",
    );
  }
  return method;
}

/** The digits of a code; apps show them in two groups. */
export function readCode(code: string | undefined): string {
  const digits = code?.replace(/\s/g, "") ?? "";
  if (digits === "") throw invalid("code", "code is required", "missing_params");
  return digits;
}

export function noChallenge(channel: Channel): AppError {
  return invalid("secret", `No code of kind ${channel} was sent for this secret.`, "no_challenge_found");
}
