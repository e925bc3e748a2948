import type { Clock } from "../../../../base/clock.ts";
import type { UserId } from "../../../../base/ids.ts";
import type { Database } from "../../../../db/connect.ts";
import { withTransaction, type Tx } from "../../../../db/transaction.ts";
import { recordAudit } from "../../accounts/index.ts";
import {
  createIssuedAccount,
  findLiveUser,
  listUsersByEmail,
  lockAddress,
  readEmail,
} from "../../accounts/for-sign-in.ts";
import type { SignInMeans } from "../means.ts";
import { openOrChallenge, type SignInOutcome } from "../sessions/sign-in-service.ts";
import { insertSsoAttempt, takeSsoAttempt } from "./attempt-store.ts";
import { giveRoles } from "./give-roles.ts";
import {
  deleteSsoIdentity,
  findSsoAccount,
  insertSsoIdentity,
  listLinkedAccounts,
  lockSsoName,
  noteSsoUse,
} from "./identity-store.ts";
import type { SsoMeans } from "./means.ts";
import { ssoProblem } from "./problems.ts";
import { decideAddress } from "./rules/address.ts";
import type { IssuedPerson } from "./rules/claims.ts";
import { flowSecrets, hashState } from "./rules/flow-secrets.ts";
import { rolesOf } from "./rules/group-roles.ts";

/** How long a person may take at the issuer. */
export const ATTEMPT_MS = 10 * 60_000;

type Scope = { readonly database: Database; readonly clock: Clock };
type Means = SignInMeans & { readonly sso: SsoMeans };

/** The issuer's address for a browser with this cookie, after a note of the attempt. */
export async function beginSso(
  { database, clock }: Scope,
  { cookie, redirectUri }: { readonly cookie: string; readonly redirectUri: string },
  { sso }: Pick<Means, "sso">,
): Promise<URL> {
  const secrets = flowSecrets(cookie);
  const url = await sso.issuer.authorizationUrl(secrets, redirectUri);
  await withTransaction(database, clock, (tx) => {
    const expiresAt = new Date(tx.now.getTime() + ATTEMPT_MS);
    return insertSsoAttempt(tx, { stateSha256: hashState(secrets.state), redirectUri, expiresAt });
  });
  return url;
}

/**
 * Signs in the person with whose answer a browser comes back. The attempt is used up first, in a transaction of its own; the
 * issuer is asked outside of transactions.
 */
export async function finishSso(
  { database, clock }: Scope,
  asked: { readonly cookie: string | undefined; readonly query: string; readonly ipAddress: string },
  means: Means,
): Promise<SignInOutcome> {
  const { cookie, query, ipAddress } = asked;
  const { sso } = means;
  if (cookie === undefined) throw ssoProblem("sso_over");
  const { state } = flowSecrets(cookie);
  // Checked before the attempt is used up: a link that somebody else made ends no sign-in of this browser.
  if (new URLSearchParams(query).get("state") !== state) throw ssoProblem("sso_over");
  const redirectUri = await withTransaction(database, clock, (tx) => takeSsoAttempt(tx, hashState(state)));
  if (redirectUri === undefined) throw ssoProblem("sso_over");
  const person = await sso.issuer.personOf({ cookie, redirectUri, query });
  return withTransaction(database, clock, async (tx) => {
    const userId = await accountOf(tx, person, ipAddress, means);
    await giveRoles(tx, { userId, ipAddress }, rolesOf(person.groups, sso.settings.groupRoles), means);
    return openOrChallenge(tx, { personId: userId, teamId: undefined, ipAddress, isForBrowser: true }, means);
  });
}

/** The account of a person by issuer and subject; one that is linked or made now for a person whom nobody knew. */
async function accountOf(tx: Tx, person: IssuedPerson, ipAddress: string, means: Means): Promise<UserId> {
  await lockSsoName(tx, person);
  const known = await findSsoAccount(tx.db, person);
  if (known !== undefined && (await findLiveUser(tx.db, known)) !== undefined) {
    await noteSsoUse(tx, person);
    return known;
  }
  // The account was deleted, so the person is as new as any other.
  if (known !== undefined) await deleteSsoIdentity(tx, person);
  const email = person.email === undefined ? undefined : readEmail(person.email);
  const isVerified = email !== undefined && person.isEmailVerified;
  const decision = email === undefined ? ({ kind: "new" } as const) : await decide(tx, person, email, isVerified);
  if (decision.kind === "refuse") throw ssoProblem(decision.problem);
  const userId =
    decision.kind === "link" ? decision.userId : await makeAccount(tx, { person, email, isVerified }, means);
  await insertSsoIdentity(tx, userId, person);
  const { issuer, subject } = person;
  await recordAudit(tx, { userId }, { ipAddress, action: `api.sso.${decision.kind}`, args: { issuer, subject } });
  return userId;
}

async function decide(tx: Tx, { issuer }: IssuedPerson, email: string, isVerified: boolean) {
  await lockAddress(tx, email);
  const users = await listUsersByEmail(tx.db, email);
  const linked = await listLinkedAccounts(
    tx.db,
    issuer,
    users.map(({ id }) => id),
  );
  const claimants = users.map(({ id: userId, isEmailProven: isProven, isAdmin }) => ({
    ...{ userId, isProven, isAdmin },
    isAnothers: linked.has(userId),
  }));
  return decideAddress(isVerified, claimants);
}

async function makeAccount(
  tx: Tx,
  {
    person,
    email,
    isVerified,
  }: { readonly person: IssuedPerson; readonly email: string | undefined; readonly isVerified: boolean },
  means: Means,
): Promise<UserId> {
  if (means.browser.signUp === "invitation") throw ssoProblem("sso_no_account");
  const { name, fullname } = person;
  return createIssuedAccount(tx, { email, isProven: isVerified, name, fullname }, means);
}
