import { forbidden } from "../../../../base/errors.ts";
import type { Identity } from "../../../../base/identity.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { lockUser, requireUser, type User } from "../../accounts/index.ts";
import { listSessions, notForTeams } from "../../accounts/for-sign-in.ts";
import type { SignInMeans } from "../means.ts";
import { isAuthorized } from "../tfa/setup-store.ts";

/** A session may add passkeys for this long; later its holder has to prove again who they are. */
const FRESH_MS = 10 * 60_000;

/**
 * The account to which the caller may add a passkey, locked until the commit. A passkey opens everything and outlives the
 * session, so a session that somebody left open does not suffice: it is fresh, or the account was authorized by its
 * password, a mail or a code (`/api/v0/tfa/authorize-new-method/`).
 */
export async function requireLeave(
  tx: Tx,
  identity: Identity,
  { refuseNewKeys }: Pick<SignInMeans, "refuseNewKeys">,
): Promise<User> {
  if (identity.memberId !== undefined) throw notForTeams("A team has no passkeys: each member has their own.");
  if (identity.session === undefined) {
    throw forbidden("Passkeys are added in a session, not with an API key: sign in first.", "session_needed");
  }
  await lockUser(tx, identity.userId);
  const user = await requireUser(tx.db, identity.userId);
  if (identity.permissions !== undefined && !user.isHostOnly) {
    throw forbidden("This session may do less than the account, and a passkey would do everything.");
  }
  await refuseNewKeys(tx, identity, undefined);
  if (await isAuthorized(tx.db, user.id, tx.now)) return user;
  const sessions = await listSessions(tx.db, identity, tx.now);
  const openedAt = sessions.find(({ id }) => id === identity.apiKeyId)?.createdAt.getTime() ?? 0;
  const isStrong = !user.hasTfa || identity.session.kind === "tfa";
  if (isStrong && tx.now.getTime() - openedAt <= FRESH_MS) return user;
  throw forbidden(
    "Prove again who you are before you add a passkey: sign in again, or use POST /api/v0/tfa/authorize-new-method/.",
    "sign_in_again",
  );
}
