import { invalid } from "../../../../base/errors.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { createAccount, hashPassword, parseNewProfile, signupClosed } from "../../accounts/for-sign-in.ts";
import type { SignInMeans } from "../means.ts";
import { requireGoodPassword } from "../passwords/rules.ts";
import { openPersonSession, type Opened } from "../sessions/open-session.ts";
import { noteInvited } from "../tokens/token-store.ts";
import { spendToken } from "../tokens/tokens.ts";
import type { SignUpBody } from "./schema.ts";

/** A sign-up whose fields are fine and whose password is hashed. */
export type SignUp = {
  readonly profile: ReturnType<typeof parseNewProfile>;
  readonly passwordHash: string;
  readonly token: string | undefined;
};

/** Checks a sign-up before anything is stored. Throws `signup_closed` where an invitation is missing. */
export async function readSignUp(body: SignUpBody, { browser, random }: SignInMeans): Promise<SignUp> {
  const { token } = body;
  if (browser.signUp === "sso" || (browser.signUp === "invitation" && token === undefined)) throw signupClosed();
  const username = body.username ?? body.email?.trim().split("@")[0];
  const profile = parseNewProfile({ ...body, ...(username === undefined ? {} : { username }) });
  requireGoodPassword(body.password, [profile.username.toLowerCase(), profile.email]);
  return { profile, passwordHash: await hashPassword(profile.password, random), token };
}

/** Makes the account, uses the invitation up, and opens the first session of its browser. */
export async function signUp(
  tx: Tx,
  { profile, passwordHash, token }: SignUp,
  ipAddress: string,
  means: SignInMeans,
): Promise<Opened> {
  const invitation = token === undefined ? undefined : await spendToken(tx, "invitation", token);
  if (invitation?.email !== undefined && invitation.email !== profile.email) {
    throw invalid("email", "The invitation is for another e-mail address");
  }
  const input = { profile, passwordHash, parentId: undefined, identity: undefined, ipAddress, means };
  const { userId } = await createAccount(tx, input);
  if (invitation !== undefined) await noteInvited(tx, invitation.id, userId);
  const asked = { personId: userId, teamId: undefined, hasTfa: false, ipAddress, isForBrowser: true };
  return openPersonSession(tx, asked, means);
}
