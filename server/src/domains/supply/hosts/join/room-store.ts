// Counts of rows that a limit bounds.
import { sql } from "kysely";
import type { UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";

/** Agent credentials of a user that were created by joining and are not revoked. */
export async function countLiveJoined(tx: Tx, userId: UserId): Promise<number> {
  const { count } = await tx.db
    .selectFrom("agent_credentials")
    .select((eb) => eb.fn.countAll().as("count"))
    .where("user_id", "=", userId)
    .where("host_key", "is not", null)
    .where("revoked_at", "is", null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Machines per host, deleted ones aside; hosts without a machine are missing. */
export async function countMachinesOf(tx: Tx, hostIds: readonly UserId[]): Promise<ReadonlyMap<UserId, number>> {
  const rows = await tx.db
    .selectFrom("machines")
    .select(["host_id", sql<number>`count(*)::integer`.as("count")])
    .where("host_id", "=", sql<UserId>`any(${hostIds}::integer[])`)
    .where("deleted_at", "is", null)
    .groupBy("host_id")
    .execute();
  return new Map(rows.map((row) => [row.host_id, row.count]));
}
