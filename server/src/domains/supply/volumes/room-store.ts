// How much of what has a limit is there.
import type { UserId } from "../../../base/ids.ts";
import type { Tx } from "../../../db/transaction.ts";

/** How many volumes a user has. One that its renter deleted does not count: its host may be slow. */
export async function countLiveVolumes(tx: Tx, userId: UserId): Promise<number> {
  const { count } = await tx.db
    .selectFrom("volumes")
    .select((eb) => eb.fn.countAll().as("count"))
    .where("user_id", "=", userId)
    .where("deleted_at", "is", null)
    .where("deleting_at", "is", null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** How many network disks a host has. */
export async function countNetworkDisks(tx: Tx, userId: UserId): Promise<number> {
  const { count } = await tx.db
    .selectFrom("network_disks")
    .select((eb) => eb.fn.countAll().as("count"))
    .where("user_id", "=", userId)
    .executeTakeFirstOrThrow();
  return Number(count);
}
