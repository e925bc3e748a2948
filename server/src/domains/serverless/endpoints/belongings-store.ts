import { sql } from "kysely";
import type { UserId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";

/** The number of a user's endpoint groups that may still make workers. */
export async function countEndpointGroupsOf(db: Reader, userId: UserId): Promise<number> {
  const row = await db
    .selectFrom("endpoint_groups")
    .select((eb) => eb.fn.countAll<number | bigint>().as("count"))
    .where("user_id", "=", userId)
    .where("deleted_at", "is", null)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** Active endpoints of all accounts, and their workers that are not being removed. */
export async function countServerless(db: Reader): Promise<{ readonly active: number; readonly workers: number }> {
  const { rows } = await sql<{ active: number; workers: number }>`
    select (select count(*) from endpoint_groups where state = 'active' and deleted_at is null)::integer as active,
      (select count(*) from endpoint_workers where state = 'active')::integer as workers
  `.execute(db);
  return rows[0] ?? { active: 0, workers: 0 };
}
