import { forbidden, unauthenticated } from "../../../../base/errors.ts";
import type { Identity, Session } from "../../../../base/identity.ts";
import type { UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { endSessions, isOpenedByKey, lockOpener } from "../../accounts/for-sign-in.ts";
import type { SignInMeans } from "../means.ts";
import { openPersonSession, type Opened } from "../sessions/open-session.ts";

type Wanted = {
  readonly identity: Identity;
  readonly session: Session;
  /** The team to act for; undefined for the person's own account. */
  readonly teamId: UserId | undefined;
  readonly ipAddress: string;
};

/**
 * Opens a session for another account of the person who is signed in, and ends the one that they had. It lasts no longer
 * than that one, and counts as many factors.
 */
export async function switchAccount(tx: Tx, wanted: Wanted, means: SignInMeans): Promise<Opened> {
  const { identity, session, teamId, ipAddress } = wanted;
  const { apiKeyId, memberId, userId, view } = identity;
  if (view !== undefined)
    throw forbidden("Leave the view of this account before you act for another one.", "view_is_read_only");
  if (!(await lockOpener(tx, identity, apiKeyId))) {
    throw unauthenticated("The session ended meanwhile. Sign in again.", "session_over");
  }
  if (await isOpenedByKey(tx, apiKeyId)) {
    throw forbidden("An API key opened this session, so it acts for the account of that key alone.");
  }
  const personId = memberId ?? userId;
  const hasTfa = session.kind === "tfa";
  const endsBy = session.expiresAt;
  const opened = await openPersonSession(
    tx,
    { personId, teamId, hasTfa, ipAddress, isForBrowser: true, endsBy },
    means,
  );
  await endSessions(tx, identity, apiKeyId);
  tx.afterCommit(() => means.identities.forgetUser(userId));
  return opened;
}
