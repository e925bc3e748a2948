import { sql } from "kysely";
import type { MachineId, UserId, VolumeId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";

/** A volume of any account as administrators find it. */
export type FoundVolume = {
  readonly id: VolumeId;
  readonly userId: UserId;
  readonly name: string;
  readonly sizeBytes: bigint;
  /** The machine; undefined for a network volume. */
  readonly machineId: MachineId | undefined;
};

/** Volumes that are not deleted, by id or by a part of their names in any case, the newest first. */
export async function searchVolumes(db: Reader, text: string, limit: number): Promise<readonly FoundVolume[]> {
  const id = /^[1-9]\d{0,9}$/.test(text) ? sql`id = ${text}::bigint or` : sql``;
  const { rows } = await sql<{
    readonly id: VolumeId;
    readonly user_id: UserId;
    readonly name: string;
    readonly size_bytes: bigint;
    readonly machine_id: MachineId | null;
  }>`
    select id, user_id, name, size_bytes, machine_id from volumes
    where deleted_at is null and (${id} position(${text.toLowerCase()}::text in lower(name)) > 0)
    order by id desc limit ${limit}::integer
  `.execute(db);
  return rows.map((row) => ({
    id: row.id,
    userId: row.user_id,
    name: row.name,
    sizeBytes: row.size_bytes,
    machineId: row.machine_id ?? undefined,
  }));
}
