import { sql } from "kysely";
import type { MachineId, UserId, VolumeId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";

/** A volume as its owner knows it. The record outlives the volume. */
export type VolumeName = {
  readonly id: VolumeId;
  /** Empty when its owner gave no name. */
  readonly name: string;
  readonly sizeBytes: bigint;
  /** The machine; undefined for a network volume. */
  readonly machineId: MachineId | undefined;
};

/** Those of these volumes that are, or were, this user's. */
export async function listVolumeNames(
  db: Reader,
  userId: UserId,
  volumeIds: readonly VolumeId[],
): Promise<readonly VolumeName[]> {
  if (volumeIds.length === 0) return [];
  const rows = await db
    .selectFrom("volumes")
    .select(["id", "name", "size_bytes", "machine_id"])
    .where("id", "=", sql<VolumeId>`any(${[...volumeIds]}::integer[])`)
    .where("user_id", "=", userId)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    sizeBytes: row.size_bytes,
    machineId: row.machine_id ?? undefined,
  }));
}
