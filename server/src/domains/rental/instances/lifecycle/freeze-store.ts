import { sql } from "kysely";
import type { InstanceId, UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";

/** Instances of these accounts that should run, waiting ones included, oldest first. */
export async function listWantedOf(
  db: Reader,
  userIds: readonly UserId[],
  limit: number,
): Promise<readonly InstanceId[]> {
  const rows = await db
    .selectFrom("instances")
    .select("id")
    .where("user_id", "=", sql<UserId>`any(${[...userIds]}::integer[])`)
    .where("ended_at", "is", null)
    .where("desired", "=", "running")
    .where("phase", "!=", "ending")
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map((row) => row.id);
}

export async function findOwner(db: Reader, id: InstanceId): Promise<UserId | undefined> {
  const row = await db.selectFrom("instances").select("user_id").where("id", "=", id).executeTakeFirst();
  return row?.user_id;
}
