import { createHash } from "node:crypto";
import type { Clock } from "../../../../base/clock.ts";
import { AppError, invalid, unauthenticated } from "../../../../base/errors.ts";
import { asId, type UserId } from "../../../../base/ids.ts";
import { networkOf } from "../../../../base/public-address.ts";
import type { Database } from "../../../../db/connect.ts";
import { withTransaction, type Tx } from "../../../../db/transaction.ts";
import { lockUser, requireUser } from "../../accounts/index.ts";
import {
  findSignInAccount,
  hasOldHashes,
  hashPassword,
  isOutdatedHash,
  isPasswordOf,
  replacePasswordHash,
} from "../../accounts/for-sign-in.ts";
import type { SignInMeans } from "../means.ts";
import type { SignInBody } from "../schema.ts";
import { beginSignIn, type PendingSignIn } from "../tfa/challenges.ts";
import { countAttempt, forgetAttempts, type Bucket } from "./attempt-store.ts";
import { openPersonSession, type Opened, type PersonSession } from "./open-session.ts";

const PASSWORD_LENGTH_MAX = 256;
const NAME_LENGTH_MAX = 64;

/** Attempts in a quarter of an hour: for a name from one network, for a name from everywhere, and from one network. */
const ATTEMPTS_OF_BOTH = 10;
const ATTEMPTS_OF_NAME = 100;
const ATTEMPTS_OF_NETWORK = 300;

type SignedIn = { readonly kind: "open"; readonly opened: Opened };
type NeedsFactor = { readonly kind: "second_factor"; readonly pending: PendingSignIn };
export type SignInOutcome = SignedIn | NeedsFactor;

/**
 * Signs a person in with name and password. Attempts are counted in the database before the password is looked at, for names
 * that nobody has as well; all refusals are alike, so that they do not tell which names there are.
 */
export async function signIn(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  {
    body,
    ipAddress,
    isForBrowser = false,
  }: { readonly body: SignInBody; readonly ipAddress: string; readonly isForBrowser?: boolean },
  means: SignInMeans,
): Promise<SignInOutcome> {
  const { name, password } = readCredentials(body);
  const { own, network } = bucketsOf(name, ipAddress);
  const fullUntil = await withTransaction(database, clock, (tx) => countAttempt(tx, [...own, network]));
  if (fullUntil !== undefined) throw tooManyAttempts(fullUntil, clock.now());
  const account = await findSignInAccount(database.kysely, name);
  const isOldAround = await hasOldHashes(database.kysely);
  const isRight = await isPasswordOf(password, account?.passwordHash, { isOldAround });
  if (!isRight || account === undefined) throw wrongPassword();
  const { passwordHash: stored } = account;
  const fresh = stored !== null && isOutdatedHash(stored) ? await hashPassword(password, means.random) : undefined;
  return withTransaction(database, clock, async (tx) => {
    await forgetAttempts(tx, own);
    if (stored !== null && fresh !== undefined) await replacePasswordHash(tx, account.id, stored, fresh);
    const teamId = body.team_id === undefined ? undefined : asId<UserId>(body.team_id);
    return openOrChallenge(tx, { personId: account.id, teamId, ipAddress, isForBrowser }, means);
  });
}

/** Counts an attempt that names nobody. Throws `sign_in_locked` beyond the limit of the network. */
export async function countNetworkAttempt(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  ipAddress: string,
): Promise<void> {
  const { network } = bucketsOf("", ipAddress);
  const fullUntil = await withTransaction(database, clock, (tx) => countAttempt(tx, [network]));
  if (fullUntil !== undefined) throw tooManyAttempts(fullUntil, clock.now());
}

/** Opens a session for a person who has proven one factor, or asks for the second where there is one. */
export async function openOrChallenge(
  tx: Tx,
  asked: Omit<PersonSession, "hasTfa">,
  means: SignInMeans,
): Promise<SignInOutcome> {
  // A second factor that is being set up is there before the session, or waits for it.
  await lockUser(tx, asked.personId);
  const { hasTfa } = await requireUser(tx.db, asked.personId);
  if (hasTfa) return { kind: "second_factor", pending: await beginSignIn(tx, asked, means) };
  return { kind: "open", opened: await openPersonSession(tx, { ...asked, hasTfa }, means) };
}

function readCredentials(body: SignInBody): { readonly name: string; readonly password: string } {
  const name = (body.username ?? body.email ?? "").trim();
  const password = body.password ?? "";
  if (name === "") throw invalid("username", "username is required: a user name or an e-mail address", "missing_input");
  if (password === "") throw invalid("password", "password is required", "missing_input");
  if (name.length > NAME_LENGTH_MAX || password.length > PASSWORD_LENGTH_MAX) throw wrongPassword();
  return { name, password };
}

function bucketsOf(name: string, ipAddress: string): { readonly own: readonly Bucket[]; readonly network: Bucket } {
  const [who, where] = [name.toLowerCase(), networkOf(ipAddress)];
  const bucket = (parts: readonly string[], max: number): Bucket => ({
    sha256: createHash("sha256").update(JSON.stringify(parts)).digest(),
    max,
  });
  return {
    own: [bucket(["both", who, where], ATTEMPTS_OF_BOTH), bucket(["name", who], ATTEMPTS_OF_NAME)],
    network: bucket(["network", where], ATTEMPTS_OF_NETWORK),
  };
}

function wrongPassword(): AppError {
  return unauthenticated("The user name or the password is wrong.");
}

function tooManyAttempts(until: Date, now: Date): AppError {
  const waitMs = until.getTime() - now.getTime();
  const message = `There were too many attempts to sign in. Try again in ${Math.ceil(waitMs / 60_000)} minutes.`;
  return new AppError("rate_limited", "sign_in_locked", message, {
    extra: { success: false, error: "sign_in_locked", detail: message, retry_after_ms: waitMs },
  });
}
