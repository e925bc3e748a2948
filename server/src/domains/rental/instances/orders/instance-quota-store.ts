import type { UserId } from "../../../../base/ids.ts";
import { sql } from "kysely";
import type { Tx } from "../../../../db/transaction.ts";

/**
 * Counts the instances of each of these accounts. An instance that its renter destroyed does not count, because its
 * host may be slow.
 */
export async function countLiveInstances(tx: Tx, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, number>> {
  const rows = await tx.db
    .selectFrom("instances")
    .select(["user_id", sql<number>`count(*)::integer`.as("count")])
    .where("user_id", "=", sql<UserId>`any(${[...userIds]}::integer[])`)
    .where("ended_at", "is", null)
    .where("phase", "<>", "ending")
    .groupBy("user_id")
    .execute();
  return new Map(rows.map((row) => [row.user_id, row.count]));
}
