import { sql } from "kysely";
import type { ApiKeyId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { deviceOf } from "./rules/user-agent.ts";

/** A use of a session: its time, the address, and the header of the program. */
export type SessionUse = {
  readonly sessionId: ApiKeyId;
  readonly ipAddress: string;
  readonly userAgent: string | undefined;
  readonly usedAt: Date;
};

/** A stored time may be this much older than the last use from the same place: few writes for a session in use. */
const STALE_MS = 30_000;

/** Stores the last use of each session, one row each. */
export async function upsertSessionUses(db: Reader, uses: readonly SessionUse[]): Promise<void> {
  if (uses.length === 0) return;
  const ordered = uses.toSorted((a, b) => a.sessionId - b.sessionId);
  const devices = ordered.map(({ userAgent }) => deviceOf(userAgent));
  await sql`
    insert into session_uses as u (session_id, ip_address, browser, system, last_used_at)
    select s.* from unnest(
      ${ordered.map(({ sessionId }) => sessionId)}::integer[], ${ordered.map(({ ipAddress }) => ipAddress)}::text[],
      ${devices.map(({ browser }) => browser ?? null)}::text[], ${devices.map(({ system }) => system ?? null)}::text[],
      ${ordered.map(({ usedAt }) => usedAt)}::timestamptz[]
    ) as s (session_id, ip_address, browser, system, last_used_at)
    join api_keys on api_keys.id = s.session_id
    on conflict (session_id) do update set
      ip_address = excluded.ip_address, browser = excluded.browser, system = excluded.system,
      last_used_at = excluded.last_used_at
    where u.last_used_at < excluded.last_used_at and (
      u.last_used_at < excluded.last_used_at - make_interval(secs => ${STALE_MS / 1000}::integer)
      or (u.ip_address, u.browser, u.system)
        is distinct from (excluded.ip_address, excluded.browser, excluded.system)
    )
  `.execute(db);
}
