// Counts of rows that a limit bounds.
import type { UserId } from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";

/** Volumes of a user. One that its renter deleted does not count: its host may be slow. */
export async function countLiveVolumes(db: Reader, userId: UserId): Promise<number> {
  const { count } = await db
    .selectFrom("volumes")
    .select((eb) => eb.fn.countAll().as("count"))
    .where("user_id", "=", userId)
    .where("deleted_at", "is", null)
    .where("deleting_at", "is", null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Network disks of a host. */
export async function countNetworkDisks(tx: Tx, userId: UserId): Promise<number> {
  const { count } = await tx.db
    .selectFrom("network_disks")
    .select((eb) => eb.fn.countAll().as("count"))
    .where("user_id", "=", userId)
    .executeTakeFirstOrThrow();
  return Number(count);
}
