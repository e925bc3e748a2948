import type { Clock } from "../../../../base/clock.ts";
import type { Identity } from "../../../../base/identity.ts";
import type { Database } from "../../../../db/connect.ts";
import { withTransaction, type Tx } from "../../../../db/transaction.ts";
import { postNotifications } from "../../../notifications/index.ts";
import { recordAudit } from "../audit-log/store.ts";
import { confirmCookie, renewCookie } from "./cookie-store.ts";
import { cookieValue, judgeCookie, newSalt, secretOfCookie, type CookieState } from "./rules/cookie-value.ts";
import type { RandomBytes } from "./rules/keys.ts";
import { endSessions } from "./session-store.ts";
import type { KeyHolder } from "./store.ts";

/** The caller of a request with a session cookie. */
export type CookieCaller = {
  readonly identity: Identity;
  /** The value that the browser should have from now on; absent while it has it. */
  readonly renewed?: { readonly secret: string; readonly expiresAtMs: number };
};

/** A session that was found by the secret of its cookie. */
export type HeldSession = { readonly identity: Identity; readonly cookie: CookieState };

type Presented = {
  readonly value: string;
  readonly ipAddress: string;
  /** The session as it is remembered, or as it was just read. */
  readonly held: HeldSession;
  readonly isFresh: boolean;
  /** Reads the session from the database, and remembers it; undefined when it has ended. */
  readonly reread: () => Promise<HeldSession | undefined>;
};

type Scope = { readonly database: Database; readonly clock: Clock; readonly random: RandomBytes };

/**
 * Decides about the value of a cookie whose secret names a session. A value that the browser has replaced ends the session,
 * since one of two who use it has copied it; what is remembered is not enough to say so, as another server may have given a
 * newer value.
 */
export async function admitCookie(scope: Scope, presented: Presented): Promise<CookieCaller | undefined> {
  const { database, clock, random } = scope;
  const { value, held, isFresh, reread } = presented;
  const { identity, cookie } = held;
  const again = async () => {
    const now = await reread();
    return now && admitCookie(scope, { ...presented, held: now, isFresh: true });
  };
  switch (judgeCookie(value, cookie, clock.now())) {
    case "fine":
      return { identity };
    case "resend":
      return {
        identity,
        renewed: {
          secret: cookieValue(secretOfCookie(value), cookie.salt),
          expiresAtMs: identity.session?.expiresAt.getTime() ?? 0,
        },
      };
    case "confirm":
      await withTransaction(database, clock, (tx) => confirmCookie(tx, identity.apiKeyId, cookie.salt));
      await reread();
      return { identity };
    case "renew":
      await withTransaction(database, clock, (tx) => renewCookie(tx, identity.apiKeyId, cookie.salt, newSalt(random)));
      return again();
    case "reused":
      if (!isFresh) return again();
      await withTransaction(database, clock, (tx) => endReused(tx, identity, presented.ipAddress));
      await reread();
      return undefined;
  }
}

/** The holder of the caller's session, who in a view is the administrator and not the account that is seen. */
export function holderOfSession({ userId, memberId, view }: Identity): KeyHolder {
  return view === undefined ? { userId, memberId } : { userId: view.adminId, memberId: undefined };
}

/** Ends a session whose old cookie was used, and tells its person, once. */
async function endReused(tx: Tx, identity: Identity, ipAddress: string): Promise<void> {
  const { apiKeyId: id } = identity;
  const holder = holderOfSession(identity);
  if ((await endSessions(tx, holder, id)).length === 0) return;
  await recordAudit(tx, { ...holder, apiKeyId: id }, { ipAddress, action: "api.session.reuse", args: { id } });
  await postNotifications(tx, [
    {
      userId: holder.memberId ?? holder.userId,
      kind: "client:session_reused",
      subject: "A session was ended, since an old copy of its cookie was used",
      message: `Somebody at ${ipAddress} used a cookie of session ${id} that your browser had replaced. Either the cookie was copied, or your browser went back to an older state of itself. The session has ended: sign in again. If you do not know the address, change your password and look at your sessions.`,
      key: `session_reused:${id}`,
    },
  ]);
}
