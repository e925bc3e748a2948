import type { UserId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";

/** Volumes and network disks of a user; a volume counts until its host has deleted the data. */
export async function countStorageOf(
  db: Reader,
  userId: UserId,
): Promise<{ readonly volumes: number; readonly networkDisks: number }> {
  const [volumes, networkDisks] = await Promise.all([
    db
      .selectFrom("volumes")
      .select((eb) => eb.fn.countAll<number | bigint>().as("count"))
      .where("user_id", "=", userId)
      .where("deleted_at", "is", null)
      .executeTakeFirstOrThrow(),
    db
      .selectFrom("network_disks")
      .select((eb) => eb.fn.countAll<number | bigint>().as("count"))
      .where("user_id", "=", userId)
      .executeTakeFirstOrThrow(),
  ]);
  return { volumes: Number(volumes.count), networkDisks: Number(networkDisks.count) };
}
