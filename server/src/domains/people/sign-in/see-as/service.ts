import type { Clock } from "../../../../base/clock.ts";
import { conflict, forbidden, invalid } from "../../../../base/errors.ts";
import type { Caller, Identity } from "../../../../base/identity.ts";
import type { UserId } from "../../../../base/ids.ts";
import type { Loop } from "../../../../base/loop-driver.ts";
import type { Database } from "../../../../db/connect.ts";
import { isUniqueViolation } from "../../../../db/sql-state.ts";
import { withTransaction, type Tx } from "../../../../db/transaction.ts";
import { postNotifications } from "../../../notifications/index.ts";
import { recordAudit, requireUser, tellAdministrators } from "../../accounts/index.ts";
import {
  endViews,
  insertView,
  leaveView,
  notForTeams,
  renewCookiesOf,
  type StoredView,
} from "../../accounts/for-sign-in.ts";
import type { SignInMeans } from "../means.ts";

const MINUTE_MS = 60_000;
const VIEWS_PER_RUN = 500;

type Wanted = { readonly userId: UserId; readonly reason: string; readonly minutes: number };

/**
 * Binds the session of an administrator's browser to another account, which it sees as its person does. Administrators see
 * nobody who is one: two of them could otherwise read what each keeps to themselves.
 */
export async function beginView(
  tx: Tx,
  { identity, ipAddress }: Caller,
  { userId, reason, minutes }: Wanted,
  { identities }: Pick<SignInMeans, "identities">,
): Promise<Date> {
  const seen = await requireUser(tx.db, userId);
  if (seen.isTeam) throw notForTeams(`Account ${userId} is a team: see it as one of its members.`);
  if (userId === identity.userId) throw invalid("user_id", "You see your own account already.");
  if (seen.isAdmin) {
    throw forbidden(`Account ${userId} is an administrator's, and nobody sees the console as one.`, "not_allowed");
  }
  const endsAt = new Date(tx.now.getTime() + minutes * MINUTE_MS);
  const asked = { sessionId: identity.apiKeyId, adminId: identity.userId, userId, reason, ipAddress, endsAt };
  const id = await insertView(tx, asked).catch((error: unknown) => {
    throw isUniqueViolation(error, "account_views_session_id") ? viewOpen() : error;
  });
  const args = { id, user_id: userId, reason, minutes };
  const event = { ipAddress, action: "api.admin.user.see_as", args };
  await recordAudit(tx, identity, event);
  await recordAudit(tx, { userId }, event);
  await postNotifications(tx, [
    {
      userId,
      kind: "client:account_seen",
      subject: "An administrator looks at your account",
      message: `For at most ${minutes} minutes an administrator sees the console as you do. Nothing can be changed that way, and no secrets are shown. Reason: ${reason}`,
      key: `account_seen:${id}`,
    },
  ]);
  await tellAdministrators(tx, {
    subject: `Account ${userId} is looked at`,
    message: `Administrator ${identity.userId} sees the console as account ${userId} for at most ${minutes} minutes. Reason: ${reason}`,
    key: `account_seen:${id}`,
  });
  tx.afterCommit(() => identities.forget(identity.apiKeyId));
  return endsAt;
}

/** Gives the session back to its administrator; returns the account that they saw, if any. */
export async function endView(
  tx: Tx,
  { apiKeyId: sessionId }: Identity,
  { identities }: Pick<SignInMeans, "identities">,
): Promise<UserId | undefined> {
  const view = await leaveView(tx, sessionId);
  if (view === undefined) return undefined;
  if (!view.isOver) await noteEnd(tx, view);
  // The session gains the rights of its administrator again.
  await renewCookiesOf(tx, view.adminId);
  tx.afterCommit(() => identities.forget(sessionId));
  return view.userId;
}

export function viewLoops({
  database,
  clock,
}: {
  readonly database: Database;
  readonly clock: Clock;
}): readonly Loop[] {
  return [
    {
      name: "end-account-views",
      description: "Ends looks of administrators at other accounts whose time is over, and notes the end.",
      everyMs: MINUTE_MS,
      run: () =>
        withTransaction(database, clock, async (tx) => {
          const views = await endViews(tx, VIEWS_PER_RUN);
          for (const view of views) await noteEnd(tx, view);
          return { ended: views.length };
        }),
    },
  ];
}

async function noteEnd(tx: Tx, { id, sessionId, adminId, userId, ipAddress }: StoredView): Promise<void> {
  const event = { ipAddress, action: "api.browser.leave_view", args: { id, user_id: userId } };
  await recordAudit(tx, { userId: adminId, apiKeyId: sessionId }, event);
  await recordAudit(tx, { userId }, event);
}

function viewOpen() {
  return conflict("view_open", "This browser sees another account already. Leave that view first.");
}
