import { AppError, invalid } from "../../../../base/errors.ts";
import type { Caller, Identity } from "../../../../base/identity.ts";
import type { TfaMethodId, UserId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { recordAudit, requireUser } from "../../accounts/index.ts";
import type { SignInMeans } from "../means.ts";
import type { MethodView } from "../schema.ts";
import { openKeySession, openPersonSession, type Opened } from "../sessions/open-session.ts";
import { issueBackupCodes } from "./add-method.ts";
import { countBackupCodes } from "./backup-code-store.ts";
import { spendChallenge, spendChallengesOf } from "./challenge-store.ts";
import { personOf, refuseTeam, standingOf } from "./challenges.ts";
import { forgetFactors } from "./forget-factors.ts";
import { readLock, readLocks } from "./lock-store.ts";
import { deleteMethod, listMethods, setLabel, setPrimary, type StoredKind, type TfaMethod } from "./method-store.ts";
import { notConfigured } from "./send-code.ts";
import { isAuthorized } from "./setup-store.ts";
import { pickMethod, verify, type Attempt, type Proof, type Verified } from "./verify.ts";
import { factorOf, viewMethod, viewMethods } from "./views.ts";

/** A session that a second factor opened. */
export type SignedIn = Opened & { readonly isByKey: boolean; readonly backupCodesLeft: number | null };

/** Opens a session with a second factor: after the right password, or for the holder of an API key. */
export async function signInWithFactor(
  tx: Tx,
  {
    identity,
    secret,
    ipAddress,
    isForBrowser = false,
  }: {
    readonly identity: Identity | undefined;
    readonly secret: string | undefined;
    readonly ipAddress: string;
    readonly isForBrowser?: boolean;
  },
  proof: Proof,
  means: SignInMeans,
): Promise<Attempt<SignedIn>> {
  const standing = await standingOf(tx, { identity, secret });
  const { userId, challenge } = standing;
  await requireFactor(tx, userId);
  if (identity !== undefined) await means.refuseNewKeys(tx, identity, undefined);
  const purposes = identity === undefined ? (["sign_in"] as const) : (["verify"] as const);
  const outcome = await verify(tx, { userId, challenge, purposes }, proof, means);
  if ("refused" in outcome) return outcome;
  if (challenge !== undefined) await spendChallenge(tx, challenge.id);
  const person = { personId: userId, teamId: challenge?.teamId, hasTfa: true, ipAddress, isForBrowser };
  const opened =
    identity === undefined
      ? await openPersonSession(tx, person, means)
      : await openKeySession(tx, identity, ipAddress, means.random);
  const backupCodesLeft = outcome.done.isBackupCode ? await countBackupCodes(tx.db, userId) : null;
  return { done: { ...opened, isByKey: identity !== undefined, backupCodesLeft } };
}

async function requireFactor(tx: Tx, userId: UserId): Promise<void> {
  if (!(await requireUser(tx.db, userId)).hasTfa) {
    throw notConfigured("This account has no second factor. Set one up: /api/v0/tfa/authorize-new-method/.");
  }
}

export type Status = {
  readonly isEnabled: boolean;
  readonly methods: readonly MethodView[];
  readonly backupCodeCount: number;
  readonly isAuthorized: boolean;
};

/** The second factors of the caller. */
export async function readStatus(
  db: Reader,
  { identity, now }: { readonly identity: Identity; readonly now: Date },
  means: SignInMeans,
): Promise<Status> {
  refuseTeam(identity);
  const { userId } = identity;
  const [methods, locks] = [await listMethods(db, userId), await readLocks(db, userId)];
  return {
    isEnabled: methods.length > 0,
    methods: viewMethods(methods, locks, means),
    backupCodeCount: await countBackupCodes(db, userId),
    isAuthorized: await isAuthorized(db, userId, now),
  };
}

/** A proof by a method of the account or a backup code: mail changes nothing of what is set up. */
async function verifyChange(
  tx: Tx,
  { identity }: Caller,
  { secret, proof }: { readonly secret: string | undefined; readonly proof: Proof },
  means: SignInMeans,
): Promise<{ readonly userId: UserId; readonly outcome: Attempt<Verified> }> {
  const { userId, challenge } = await standingOf(tx, { identity, secret });
  await requireFactor(tx, userId);
  if (proof.channel === "email" && proof.backupCode === undefined) {
    throw invalid("tfa_method", "tfa_method must be totp or sms for a change of methods", "invalid_tfa_method");
  }
  return { userId, outcome: await verify(tx, { userId, challenge, purposes: ["verify"] }, proof, means) };
}

/** Deletes a method, by default the one that proves the call. The last one takes along what came with second factors. */
export async function removeMethod(
  tx: Tx,
  caller: Caller,
  asked: { readonly secret: string | undefined; readonly proof: Proof; readonly targetId: TfaMethodId | undefined },
  means: SignInMeans,
): Promise<Attempt<{ readonly remaining: number }>> {
  if (asked.proof.backupCode !== undefined && asked.targetId === undefined) {
    throw invalid("target_id", "target_id is required with backup_code", "missing_params");
  }
  const { userId, outcome } = await verifyChange(tx, caller, asked, means);
  if ("refused" in outcome) return outcome;
  const methods = await listMethods(tx.db, userId);
  const id = asked.targetId ?? outcome.done.methodId;
  const target = methods.find((method) => method.id === id);
  if (target === undefined) throw noSuchMethod("target_id");
  await deleteMethod(tx, target.id);
  await spendChallengesOf(tx, userId);
  const others = methods.filter((method) => method.id !== target.id);
  const [next] = others;
  if (next === undefined) await forgetFactors(tx, userId, means);
  else if (target.isPrimary) await setPrimary(tx, userId, next.id);
  const { ipAddress, identity } = caller;
  await recordAudit(tx, identity, {
    ipAddress,
    action: "api.tfa.delete",
    args: { id: target.id, method: target.kind },
  });
  return { done: { remaining: others.length } };
}

/** Replaces the backup codes. */
export async function renewBackupCodes(
  tx: Tx,
  caller: Caller,
  asked: { readonly secret: string | undefined; readonly proof: Proof },
  means: SignInMeans,
): Promise<Attempt<readonly string[]>> {
  const { userId, outcome } = await verifyChange(tx, caller, asked, means);
  if ("refused" in outcome) return outcome;
  await recordAudit(tx, caller.identity, {
    ipAddress: caller.ipAddress,
    action: "api.tfa.regen_backup_codes",
    args: {},
  });
  return { done: await issueBackupCodes(tx, userId, means) };
}

/** Gives a method another label, or makes it the primary one. */
export async function updateMethod(
  tx: Tx,
  { identity, ipAddress }: Caller,
  asked: {
    readonly methodId: TfaMethodId | undefined;
    readonly kind: StoredKind | undefined;
    readonly label: string | undefined;
    readonly isPrimary: boolean | undefined;
  },
  means: SignInMeans,
): Promise<MethodView> {
  const userId = await personOf(tx, identity);
  const method = await findMethod(tx, userId, asked);
  const label = asked.label === method.label ? undefined : asked.label;
  const isPrimary = asked.isPrimary === method.isPrimary ? undefined : asked.isPrimary;
  if (label === undefined && isPrimary === undefined) {
    throw new AppError("invalid", "invalid_params", "The request changes nothing: send another label or is_primary.");
  }
  if (isPrimary === false) {
    throw invalid(
      "is_primary",
      "One method is always the primary one: set is_primary on another one",
      "invalid_params",
    );
  }
  if (label !== undefined) await setLabel(tx, method.id, label);
  if (isPrimary === true) await setPrimary(tx, userId, method.id);
  await recordAudit(tx, identity, { ipAddress, action: "api.tfa.update", args: { id: method.id } });
  const changed = { ...method, label: label ?? method.label, isPrimary: isPrimary ?? method.isPrimary };
  return viewMethod(changed, await readLock(tx.db, userId, factorOf(method)), means);
}

async function findMethod(
  tx: Tx,
  userId: UserId,
  { methodId, kind }: { readonly methodId: TfaMethodId | undefined; readonly kind: StoredKind | undefined },
): Promise<TfaMethod> {
  if (methodId === undefined && kind === undefined) {
    throw invalid("tfa_method_id", "tfa_method_id or tfa_method is required", "missing_params");
  }
  if (methodId === undefined && kind !== undefined) return pickMethod(tx, userId, kind, undefined);
  const method = (await listMethods(tx.db, userId)).find(({ id }) => id === methodId);
  if (method === undefined) throw noSuchMethod("tfa_method_id");
  return method;
}

function noSuchMethod(field: string): AppError {
  return new AppError("not_found", "not_found", `This account has no such method.`, { extra: { field } });
}
