import type { InstanceId, UserId, VolumeId } from "../../../base/ids.ts";
import type { Tx } from "../../../db/transaction.ts";
import { findOpenClone } from "./clones/service.ts";
import { endVolume } from "./service.ts";
import { deletionAt, RETENTION_MS } from "./rules/volume-end.ts";
import { findVolumeForUpdate, listAttachmentsOfVolumes, listVolumes, lockEndedVolumes } from "./volume-store.ts";

/** Deletes volumes whose retention after their end is over and which nothing uses; returns how many. */
export async function deleteEndedVolumes(tx: Tx, limit: number): Promise<number> {
  const locked = await lockEndedVolumes(tx, new Date(tx.now.getTime() - RETENTION_MS), limit);
  // Read again under the lock, which keeps instances from starting to use them.
  const ids = locked.map((volume) => volume.id);
  const used = new Set((await listAttachmentsOfVolumes(tx.db, ids)).map((attachment) => attachment.volumeId));
  const over = locked.filter((volume) => {
    const at = deletionAt(volume, used.has(volume.id));
    return at !== undefined && at <= tx.now;
  });
  let count = 0;
  for (const volume of over) {
    // A volume that is being cloned stays until its copy is complete.
    if ((await findOpenClone(tx, volume.id)) !== undefined) continue;
    await endVolume(tx, volume);
    count += 1;
  }
  return count;
}

/** The volumes to end, and their owner. */
export type Ending = {
  readonly userId: UserId;
  readonly ids: readonly VolumeId[];
  /**
   * Instances that are being destroyed: volumes that only they use may be ended. A host deletes nothing that a
   * container still uses.
   */
  readonly leaving: ReadonlySet<InstanceId>;
};

/** Ends those of these volumes that nothing else uses; returns how many are left and may be ended by a later call. */
export async function endUnusedVolumes(tx: Tx, { userId, ids, leaving }: Ending): Promise<number> {
  let leftCount = 0;
  for (const id of ids.toSorted((a, b) => a - b)) {
    const volume = await findVolumeForUpdate(tx, id, userId);
    if (volume === undefined) continue;
    const users = (await listAttachmentsOfVolumes(tx.db, [id])).filter(({ instanceId }) => !leaving.has(instanceId));
    if (users.length > 0 || (await findOpenClone(tx, id)) !== undefined) leftCount += 1;
    else await endVolume(tx, volume);
  }
  return leftCount;
}

/** Ends all volumes of a user. The caller destroys the user's instances first. */
export async function endVolumesOf(tx: Tx, { userId, leaving }: Omit<Ending, "ids">): Promise<number> {
  const volumes = await listVolumes(tx.db, userId);
  return endUnusedVolumes(tx, { userId, leaving, ids: volumes.map(({ id }) => id) });
}
