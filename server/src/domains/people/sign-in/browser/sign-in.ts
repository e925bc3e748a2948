import type { Clock } from "../../../../base/clock.ts";
import { forbidden, invalid, unauthenticated } from "../../../../base/errors.ts";
import { asId, type UserId } from "../../../../base/ids.ts";
import { invariant } from "../../../../base/invariant.ts";
import type { Database } from "../../../../db/connect.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import type { SignInMeans } from "../means.ts";
import { openBrowserSessionByKey } from "../sessions/open-session.ts";
import { countNetworkAttempt, openOrChallenge, signIn, type SignInOutcome } from "../sessions/sign-in-service.ts";
import { spendToken } from "../tokens/tokens.ts";
import type { BrowserSignInBody } from "./schema.ts";

type Means = { readonly database: Database; readonly clock: Clock };
type Asked = { readonly body: BrowserSignInBody; readonly ipAddress: string };

/** Opens a session for a browser: by a password, a key, or the token of a link. */
export function signInBrowser(scope: Means, asked: Asked, means: SignInMeans): Promise<SignInOutcome> {
  const { body, ipAddress } = asked;
  const given = [body.username ?? body.password, body.api_key, body.token].filter((value) => value !== undefined);
  if (given.length > 1) {
    throw invalid("api_key", "Send a user name and a password, an API key, or the token of a link: one of them");
  }
  if (body.token !== undefined) return signInByLink(scope, { token: body.token, ...asked }, means);
  if (body.api_key !== undefined) return signInByKey(scope, { apiKey: body.api_key, ...asked }, means);
  return signIn(scope, { body, ipAddress, isForBrowser: true }, means);
}

async function signInByKey(
  { database, clock }: Means,
  { apiKey, body, ipAddress }: Asked & { readonly apiKey: string },
  means: SignInMeans,
): Promise<SignInOutcome> {
  if (body.team_id !== undefined) throw invalid("team_id", "A key acts for one account: leave out team_id");
  await countNetworkAttempt({ database, clock }, ipAddress);
  const identity = await means.identities.authenticate(apiKey);
  if (identity === undefined) throw unauthenticated("Invalid user key");
  if (identity.instanceId !== undefined) throw forbidden("This key belongs to one instance: it signs nobody in.");
  return withTransaction(database, clock, async (tx) => {
    await means.refuseNewKeys(tx, identity, undefined);
    return { kind: "open", opened: await openBrowserSessionByKey(tx, identity, ipAddress, means.random) };
  });
}

/** A link proves no second factor: an account that has one is asked for it. */
async function signInByLink(
  { database, clock }: Means,
  { token, body, ipAddress }: Asked & { readonly token: string },
  means: SignInMeans,
): Promise<SignInOutcome> {
  await countNetworkAttempt({ database, clock }, ipAddress);
  return withTransaction(database, clock, async (tx) => {
    const { userId: personId } = await spendToken(tx, "link", token);
    invariant(personId !== undefined, "a link is for an account");
    const teamId = body.team_id === undefined ? undefined : asId<UserId>(body.team_id);
    return openOrChallenge(tx, { personId, teamId, ipAddress, isForBrowser: true }, means);
  });
}
