import { sql } from "kysely";
import type { ApiKeyId, UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import type { CookieState, Salt } from "./rules/cookie-value.ts";

/** The columns of a session and its cookie, which a session without a row in `session_cookies` has null. */
type CookieRow = {
  readonly created_at: Date;
  readonly salt: Buffer | null;
  readonly previous_salt: Buffer | null;
  readonly renewed_at: Date | null;
  readonly confirmed_at: Date | null;
  readonly is_due: boolean | null;
};

export function toCookieState(row: CookieRow): CookieState {
  const { created_at: createdAt, renewed_at: renewedAt } = row;
  if (renewedAt === null) {
    return { salt: undefined, previous: undefined, renewedAt: createdAt, confirmedAt: createdAt, isDue: false };
  }
  return {
    salt: row.salt ?? undefined,
    previous: { salt: row.previous_salt ?? undefined },
    renewedAt,
    confirmedAt: row.confirmed_at ?? undefined,
    isDue: row.is_due ?? false,
  };
}

/** Gives a session another salt in place of the one that the caller knows. Of several calls at once one does it. */
export async function renewCookie(tx: Tx, id: ApiKeyId, from: Salt, to: Buffer): Promise<void> {
  await sql`
    insert into session_cookies as c (session_id, salt, renewed_at)
    values (${id}::integer, ${to}::bytea, ${tx.now}::timestamptz)
    on conflict (session_id) do update set
      previous_salt = c.salt, salt = excluded.salt, renewed_at = excluded.renewed_at, confirmed_at = null, is_due = false
    where c.salt is not distinct from ${from ?? null}::bytea
  `.execute(tx.db);
}

/** Notes that the browser has the value of this salt, so that the one before ends soon. */
export async function confirmCookie(tx: Tx, id: ApiKeyId, salt: Salt): Promise<void> {
  await tx.db
    .updateTable("session_cookies")
    .set({ confirmed_at: tx.now })
    .where("session_id", "=", id)
    .where("salt", "is not distinct from", salt ?? null)
    .where("confirmed_at", "is", null)
    .execute();
}

/**
 * Has the cookies of a person's open sessions replaced at their next request, those in teams too: the person has gained
 * rights, and a value that somebody copied before must not have them.
 */
export async function renewCookiesOf(tx: Tx, personId: UserId): Promise<void> {
  await sql`
    insert into session_cookies (session_id, renewed_at, confirmed_at, is_due)
    select id, ${tx.now}::timestamptz, ${tx.now}::timestamptz, true from api_keys
    where kind <> 'api' and deleted_at is null and expires_at > ${tx.now}::timestamptz
      and ((user_id = ${personId}::integer and member_id is null) or member_id = ${personId}::integer)
    order by id
    on conflict (session_id) do update set is_due = true
  `.execute(tx.db);
}
