import type { UserId } from "../../base/ids.ts";
import type { Reader } from "../../db/transaction.ts";

/** How many standing requests of a user's may still become instances. */
export async function countOpenRequestsOf(db: Reader, userId: UserId): Promise<number> {
  const row = await db
    .selectFrom("standing_requests")
    .select((eb) => eb.fn.countAll<number | bigint>().as("count"))
    .where("user_id", "=", userId)
    .where("status", "=", "open")
    .executeTakeFirstOrThrow();
  return Number(row.count);
}
