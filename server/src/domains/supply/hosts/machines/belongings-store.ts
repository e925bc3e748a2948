import { sql } from "kysely";
import type { MachineId, UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";

/** Counts the machines of a host, and the tokens and credentials by which it could still get one. */
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

/** Listed machines of these hosts, in id order. */
export async function listListedMachinesOf(
  db: Reader,
  hostIds: readonly UserId[],
  limit: number,
): Promise<readonly { readonly id: MachineId; readonly hostId: UserId }[]> {
  const rows = await db
    .selectFrom("machines")
    .select(["id", "host_id"])
    .where("host_id", "=", sql<UserId>`any(${[...hostIds]}::integer[])`)
    .where("is_listed", "=", true)
    .where("deleted_at", "is", null)
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map((row) => ({ id: row.id, hostId: row.host_id }));
}
