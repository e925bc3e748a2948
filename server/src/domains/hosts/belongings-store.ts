import { sql } from "kysely";
import type { UserId } from "../../base/ids.ts";
import type { Reader } from "../../db/transaction.ts";

/** How many machines a host has, and how many ways there are by which one could still come to be the host's. */
export async function countMachinesOf(
  db: Reader,
  now: Date,
  hostId: UserId,
): Promise<{ readonly machines: number; readonly credentials: number; readonly joinTokens: number }> {
  const { rows } = await sql<{ machines: number; credentials: number; join_tokens: number }>`
    select
      (select count(*) from machines where host_id = ${hostId} and deleted_at is null)::integer as machines,
      (select count(*) from agent_credentials where user_id = ${hostId} and revoked_at is null)::integer as credentials,
      (select count(*) from join_tokens
        where user_id = ${hostId} and used_at is null and expires_at > ${now}::timestamptz)::integer as join_tokens
  `.execute(db);
  const [row] = rows;
  return { machines: row?.machines ?? 0, credentials: row?.credentials ?? 0, joinTokens: row?.join_tokens ?? 0 };
}
