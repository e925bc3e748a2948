import type { Tx } from "../../db/transaction.ts";
import { findOpenClone } from "./clone-service.ts";
import { endVolume } from "./service.ts";
import { deletionAt, RETENTION_MS } from "./volume-end.ts";
import { listAttachmentsOfVolumes, lockEndedVolumes } from "./volume-store.ts";

/** Ends volumes whose time after their end is over too, and which nothing uses; returns how many. */
export async function deleteEndedVolumes(tx: Tx, limit: number): Promise<number> {
  const locked = await lockEndedVolumes(tx, new Date(tx.now.getTime() - RETENTION_MS), limit);
  // Read again under the lock: only now nobody begins to use them.
  const ids = locked.map((volume) => volume.id);
  const used = new Set((await listAttachmentsOfVolumes(tx.db, ids)).map((attachment) => attachment.volumeId));
  const over = locked.filter((volume) => {
    const at = deletionAt(volume, used.has(volume.id));
    return at !== undefined && at <= tx.now;
  });
  let count = 0;
  for (const volume of over) {
    // Whoever clones it is about to have it elsewhere.
    if ((await findOpenClone(tx, volume.id)) !== undefined) continue;
    await endVolume(tx, volume);
    count += 1;
  }
  return count;
}
