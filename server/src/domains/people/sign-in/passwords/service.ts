import { createHash } from "node:crypto";
import type { Clock } from "../../../../base/clock.ts";
import { conflict, forbidden, unauthenticated } from "../../../../base/errors.ts";
import type { Caller } from "../../../../base/identity.ts";
import type { Database } from "../../../../db/connect.ts";
import { withTransaction, type Tx } from "../../../../db/transaction.ts";
import { recordAudit, requireUser } from "../../accounts/index.ts";
import {
  endSessionsOfPerson,
  findPasswordHash,
  findProvenUser,
  hashPassword,
  isPasswordOf,
  parseEmail,
  renewCookiesOf,
  setPasswordHash,
} from "../../accounts/for-sign-in.ts";
import type { SignInMeans } from "../means.ts";
import { countAttempt } from "../sessions/attempt-store.ts";
import { countNetworkAttempt } from "../sessions/sign-in-service.ts";
import { personOf } from "../tfa/challenges.ts";
import { verify, type Attempt, type Proof } from "../tfa/verify.ts";
import { revokeTokensOf } from "../tokens/token-store.ts";
import { issueToken, pathOf, spendToken } from "../tokens/tokens.ts";
import { requireGoodPassword } from "./rules.ts";

/** Mails for one address in a quarter of an hour; further requests are answered alike, and mail nothing. */
const RESETS_OF_ADDRESS = 3;
const GUESSES_OF_ACCOUNT = 10;

type Scope = { readonly database: Database; readonly clock: Clock };

/**
 * Mails a link that resets the password of the account that has proven this address. It returns the same for every address,
 * so that it does not tell who has an account.
 */
export async function requestReset(
  { database, clock }: Scope,
  { email: text, ipAddress }: { readonly email: string; readonly ipAddress: string },
  { queueMail, random, browser }: SignInMeans,
): Promise<void> {
  const email = parseEmail(text);
  if (queueMail === undefined) {
    throw conflict("no_mail_server", "This server sends no mail. Ask its operator: ./berth admin sign-in-link USER.");
  }
  await countNetworkAttempt({ database, clock }, ipAddress);
  await withTransaction(database, clock, async (tx) => {
    const sha256 = createHash("sha256")
      .update(JSON.stringify(["reset", email]))
      .digest();
    if ((await countAttempt(tx, [{ sha256, max: RESETS_OF_ADDRESS }])) !== undefined) return;
    const user = await findProvenUser(tx.db, email);
    if (user === undefined) return;
    await revokeTokensOf(tx, user.id, "reset");
    const { secret, expiresAt } = await issueToken(tx, { purpose: "reset", userId: user.id }, random);
    await queueMail(tx, {
      to: email,
      subject: "Reset your password",
      text: mailOf(secret, browser.publicUrl),
      expiresAt,
    });
    const args = { user_id: user.id };
    await recordAudit(tx, { userId: user.id }, { ipAddress, action: "api.browser.request_reset", args });
  });
}

function mailOf(token: string, publicUrl: string | undefined): string {
  // A caller chooses the Host of a request, so a link is made of the configured address only.
  const way =
    publicUrl === undefined
      ? ["Open the page /reset-password of that server and enter this token:", "", `  ${token}`]
      : ["Open this link:", "", `  ${publicUrl.replace(/\/+$/, "")}${pathOf("reset", token)}`];
  return [
    "Somebody, probably you, asked for another password of your account on a Berth server. Within an hour:",
    "",
    ...way,
    "",
    "If it was not you, do nothing: your password stays as it is.",
    "",
  ].join("\n");
}

/** Gives the account of a mailed link another password, and ends its sessions. A second factor stays needed. */
export async function resetPassword(
  { database, clock }: Scope,
  { token, password, ipAddress }: { readonly token: string; readonly password: string; readonly ipAddress: string },
  means: SignInMeans,
): Promise<void> {
  requireGoodPassword(password, []);
  await countNetworkAttempt({ database, clock }, ipAddress);
  const hash = await hashPassword(password, means.random);
  await withTransaction(database, clock, async (tx) => {
    const { userId } = await spendToken(tx, "reset", token);
    if (userId === undefined) return;
    const user = await requireUser(tx.db, userId);
    requireGoodPassword(password, [user.username.toLowerCase(), user.email]);
    await setPasswordHash(tx, userId, hash);
    await revokeTokensOf(tx, userId, "link");
    await endSessionsOfPerson(tx, userId, undefined);
    tx.afterCommit(() => means.identities.forgetAll());
    await recordAudit(tx, { userId }, { ipAddress, action: "api.browser.reset_password", args: { user_id: userId } });
  });
}

/** True when the given password is the present one; wrong ones are counted. Looked at outside of any transaction. */
export async function isPresentPassword(
  { database, clock }: Scope,
  { identity }: Caller,
  password: string | undefined,
): Promise<boolean> {
  if (password === undefined) return false;
  const sha256 = createHash("sha256")
    .update(JSON.stringify(["change", identity.userId]))
    .digest();
  const fullUntil = await withTransaction(database, clock, (tx) =>
    countAttempt(tx, [{ sha256, max: GUESSES_OF_ACCOUNT }]),
  );
  if (fullUntil !== undefined)
    throw forbidden("There were too many wrong passwords. Try again in a quarter of an hour.");
  return isPasswordOf(password, await findPasswordHash(database.kysely, identity.userId));
}

/** Stores another password of the caller and ends their other sessions. */
export async function changePassword(
  tx: Tx,
  { identity, ipAddress }: Caller,
  {
    password,
    hash,
    isPresent,
    factor,
  }: {
    readonly password: string;
    readonly hash: string;
    readonly isPresent: boolean;
    readonly factor: Proof | undefined;
  },
  means: SignInMeans,
): Promise<Attempt<true>> {
  const userId = await personOf(tx, identity);
  const user = await requireUser(tx.db, userId);
  requireGoodPassword(password, [user.username.toLowerCase(), user.email], "new_password");
  if (factor !== undefined) {
    const outcome = await verify(tx, { userId, challenge: undefined, purposes: ["verify"] }, factor, means);
    if ("refused" in outcome) return outcome;
  } else if (!isPresent) {
    const hasProof = user.hasTfa || (await findPasswordHash(tx.db, userId)) !== undefined;
    if (hasProof) throw unauthenticated("The present password is wrong or missing.", "wrong_password");
    // A first password opens all that the account may do.
    if (identity.permissions !== undefined) throw forbidden("This key has too few rights to give a first password.");
  }
  await setPasswordHash(tx, userId, hash);
  await endSessionsOfPerson(tx, userId, identity.session === undefined ? undefined : identity.apiKeyId);
  await renewCookiesOf(tx, userId);
  tx.afterCommit(() => means.identities.forgetAll());
  await recordAudit(tx, identity, { ipAddress, action: "api.user.change_password", args: {} });
  return { done: true };
}
