import type { UserId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";

/** Counts a user's instances that are not over; those that are being removed count until they are. */
export async function countInstancesOf(db: Reader, userId: UserId): Promise<number> {
  const row = await db
    .selectFrom("instances")
    .select((eb) => eb.fn.countAll<number | bigint>().as("count"))
    .where("user_id", "=", userId)
    .where("phase", "<>", "ended")
    .executeTakeFirstOrThrow();
  return Number(row.count);
}
