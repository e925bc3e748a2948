import type { Clock } from "../../../../base/clock.ts";
import { forbidden, invalid, unauthenticated } from "../../../../base/errors.ts";
import type { Database } from "../../../../db/connect.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import type { SignInMeans } from "../means.ts";
import { openBrowserSessionByKey } from "../sessions/open-session.ts";
import { countNetworkAttempt, signIn, type SignInOutcome } from "../sessions/sign-in-service.ts";
import type { BrowserSignInBody } from "./schema.ts";

type Means = { readonly database: Database; readonly clock: Clock };
type Asked = { readonly body: BrowserSignInBody; readonly ipAddress: string };

/** Opens a session for a browser: by a password, or by a key. */
export function signInBrowser(scope: Means, asked: Asked, means: SignInMeans): Promise<SignInOutcome> {
  const { body, ipAddress } = asked;
  const given = [body.username ?? body.password, body.api_key].filter((value) => value !== undefined);
  if (given.length > 1) throw invalid("api_key", "Send a user name and a password, or an API key: one of them");
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
