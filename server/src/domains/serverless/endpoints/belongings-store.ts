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
