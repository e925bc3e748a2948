import { createHash } from "node:crypto";
import { invalid, unauthenticated, type AppError } from "../../../../base/errors.ts";
import type { Identity } from "../../../../base/identity.ts";
import type { UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { lockUser } from "../../accounts/index.ts";
import { notForTeams } from "../../accounts/for-sign-in.ts";
import type { SignInMeans } from "../means.ts";
import type { MethodView } from "../schema.ts";
import { countBackupCodes } from "./backup-code-store.ts";
import { findChallenge, insertChallenge, type Challenge, type Purpose } from "./challenge-store.ts";
import { listMethods } from "./method-store.ts";
import { readLocks } from "./lock-store.ts";
import { viewMethods } from "./views.ts";

const SECRET_BYTES = 32;
/** How long a person may take between the password and the second factor. */
const CHALLENGE_MS = 15 * 60_000;

/** A sign-in with the right password that waits for its second factor. */
export type PendingSignIn = {
  readonly secret: string;
  readonly methods: readonly MethodView[];
  readonly backupCodeCount: number;
};

/** The person of a call: by an API key or session, or by the secret of a sign-in that waits. */
export type Standing = {
  readonly userId: UserId;
  readonly identity: Identity | undefined;
  /** The challenge of the secret that the call sends, if any. */
  readonly challenge: Challenge | undefined;
};

/** A challenge with the secret that opens it, which is shown once. */
export async function openChallenge(
  tx: Tx,
  challenge: {
    readonly userId: UserId;
    readonly purpose: Purpose;
    readonly channel?: Challenge["channel"];
    readonly methodId?: Challenge["methodId"];
    readonly teamId?: UserId | undefined;
  },
  { random }: Pick<SignInMeans, "random">,
): Promise<{ readonly secret: string; readonly challenge: Challenge }> {
  const secret = random(SECRET_BYTES).toString("base64url");
  const expiresAt = new Date(tx.now.getTime() + CHALLENGE_MS);
  const made = await insertChallenge(tx, { ...challenge, secretSha256: hashSecret(secret), expiresAt });
  return { secret, challenge: made };
}

/** Lets a person go on with the second factor after the right password. */
export async function beginSignIn(
  tx: Tx,
  { personId: userId, teamId }: { readonly personId: UserId; readonly teamId: UserId | undefined },
  means: SignInMeans,
): Promise<PendingSignIn> {
  const { secret } = await openChallenge(tx, { userId, purpose: "sign_in", teamId }, means);
  const [methods, locks] = [await listMethods(tx.db, userId), await readLocks(tx.db, userId)];
  const backupCodeCount = await countBackupCodes(tx.db, userId);
  return { secret, methods: viewMethods(methods, locks, means), backupCodeCount };
}

/**
 * The person of a call, whose account is locked until the commit: two servers look at codes of one account one after the
 * other. Throws `missing_auth_value` (401) for a call with neither key nor secret.
 */
export async function standingOf(
  tx: Tx,
  { identity, secret }: { readonly identity: Identity | undefined; readonly secret: string | undefined },
): Promise<Standing> {
  if (identity !== undefined) refuseTeam(identity);
  const sha256 = secret === undefined ? undefined : hashSecret(secret);
  const before = sha256 === undefined ? undefined : await findChallenge(tx.db, sha256, tx.now);
  const userId = identity?.userId ?? before?.userId;
  if (userId === undefined) {
    if (secret === undefined)
      throw unauthenticated("This call needs a key, or the secret of a sign-in.", "missing_auth_value");
    throw challengeNotFound();
  }
  await lockUser(tx, userId);
  // Read again: another call may have used it up while this one waited.
  const challenge = sha256 === undefined ? undefined : await findChallenge(tx.db, sha256, tx.now);
  if (secret !== undefined && challenge?.userId !== userId) throw challengeNotFound();
  if (identity === undefined && challenge?.purpose !== "sign_in") throw challengeNotFound();
  return { userId, identity, challenge };
}

/** The account of the key, locked until the commit. Nobody signs in as a team, so a team has no second factor. */
export async function personOf(tx: Tx, identity: Identity): Promise<UserId> {
  refuseTeam(identity);
  await lockUser(tx, identity.userId);
  return identity.userId;
}

export function refuseTeam({ memberId }: Identity): void {
  if (memberId !== undefined) throw notForTeams("A team has no second factor: each member has one of their own.");
}

export function hashSecret(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

/** One refusal for a secret that never was, was used, has expired, or is somebody else's. */
export function challengeNotFound(): AppError {
  return invalid("secret", "secret is unknown, used or expired. Begin again.", "challenge_not_found");
}
