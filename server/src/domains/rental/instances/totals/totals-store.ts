import type { UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";

/** The number of instances that the user's list shows. */
export async function countShownInstances(db: Reader, userId: UserId): Promise<number> {
  const { count } = await db
    .selectFrom("instances")
    .select((eb) => eb.fn.countAll().as("count"))
    .where("user_id", "=", userId)
    .where("phase", "not in", ["ending", "ended"])
    .executeTakeFirstOrThrow();
  return Number(count);
}
