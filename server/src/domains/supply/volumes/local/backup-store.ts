import type { RawBuilder } from "kysely";
import type { MachineId, UserId, VolumeId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";

/** A volume on a machine's own disk. Network volumes outlive each machine, so nothing of them has to be kept. */
export type VolumeToKeep = { readonly id: VolumeId; readonly machineId: MachineId; readonly userId: UserId };

/** Volumes on a machine's own disk that are not being deleted. */
export async function listVolumesToKeep(db: Reader, machineId: MachineId): Promise<readonly VolumeToKeep[]> {
  const rows = await selectToKeep(db).where("machine_id", "=", machineId).orderBy("id").execute();
  return rows.flatMap(toVolume);
}

/** Volumes of that kind whose rentals end in this time, or ended in it, the next end first. */
export async function listVolumesNearEnd(
  db: Reader,
  { from, to, unless, limit }: EndSearch,
): Promise<readonly VolumeToKeep[]> {
  const rows = await selectToKeep(db)
    .where("end_at", ">", from)
    .where("end_at", "<=", to)
    .where((eb) => eb.not(unless))
    .orderBy("end_at")
    .limit(limit)
    .execute();
  return rows.flatMap(toVolume);
}

type EndSearch = {
  readonly from: Date;
  readonly to: Date;
  /** SQL that is true for volumes to leave out. */
  readonly unless: RawBuilder<boolean>;
  readonly limit: number;
};

function selectToKeep(db: Reader) {
  return db
    .selectFrom("volumes")
    .select(["id", "machine_id", "user_id"])
    .where("deleting_at", "is", null)
    .where("machine_id", "is not", null);
}

type Row = { readonly id: VolumeId; readonly machine_id: MachineId | null; readonly user_id: UserId };

function toVolume(row: Row): readonly VolumeToKeep[] {
  return row.machine_id === null ? [] : [{ id: row.id, machineId: row.machine_id, userId: row.user_id }];
}
