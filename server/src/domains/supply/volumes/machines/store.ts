import { sql } from "kysely";
import type { DesiredVolume, ObservedVolume } from "../../../../../../protocol/index.ts";
import type { InstanceId, MachineId, NetworkDiskId, VolumeId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";

/** Channel on which every process learns that the volumes of machines changed. */
export const VOLUMES_CHANNEL = "volumes_changed";

export async function notifyVolumes(tx: Tx, machineIds: readonly MachineId[]): Promise<void> {
  if (machineIds.length === 0) return;
  await sql`select pg_notify(${VOLUMES_CHANNEL}, ${machineIds.join(",")})`.execute(tx.db);
}

/** A volume in the desired set of a machine. */
export type DesiredOn = { readonly machineId: MachineId; readonly volume: DesiredVolume };

/** All volumes on the machines' own disks whose data is not deleted yet. */
export async function listLocalDesired(db: Reader, machineIds: readonly MachineId[]): Promise<readonly DesiredOn[]> {
  const { rows } = await sql<DesiredRow>`
    select machine_id, id, size_bytes, deleting_at, null as mount_path from volumes
    where machine_id = any(${machineIds}::integer[]) and deleted_at is null
    order by id
  `.execute(db);
  return rows.map(toDesired);
}

/** An instance that may write to its mounts. */
export type Writer = { readonly id: InstanceId; readonly machineId: MachineId };

/** Network volumes that these instances mount, and volumes to be deleted on network disks that the machines mount. */
export async function listNetworkDesired(
  db: Reader,
  machineIds: readonly MachineId[],
  writers: readonly Writer[],
): Promise<readonly DesiredOn[]> {
  const { rows } = await sql<DesiredRow>`
    select disk.machine_id, volumes.id, volumes.size_bytes, volumes.deleting_at, disk.mount_path
    from network_disk_mounts as disk join volumes using (network_disk_id)
    where disk.machine_id = any(${machineIds}::integer[]) and volumes.deleted_at is null and (
      volumes.deleting_at is not null or exists (
        select from volume_attachments
        join unnest(
          ${writers.map(({ id }) => id)}::integer[], ${writers.map(({ machineId }) => machineId)}::integer[]
        ) as writer (instance_id, machine_id) using (instance_id)
        where volume_attachments.volume_id = volumes.id and writer.machine_id = disk.machine_id
      )
    )
    order by volumes.id
  `.execute(db);
  return rows.map(toDesired);
}

type DesiredRow = {
  readonly machine_id: MachineId;
  readonly id: VolumeId;
  readonly size_bytes: bigint;
  readonly deleting_at: Date | null;
  readonly mount_path: string | null;
};

function toDesired(row: DesiredRow): DesiredOn {
  const volume: DesiredVolume = {
    volume_id: row.id,
    size_bytes: Number(row.size_bytes),
    network_directory: row.mount_path,
    state: row.deleting_at === null ? "present" : "absent",
  };
  return { machineId: row.machine_id, volume };
}

/** One host's report on one volume. */
export type VolumeSighting = { readonly machineId: MachineId; readonly seen: ObservedVolume };

/**
 * Stores what hosts report of volumes that are on them; reports on other volumes are ignored. Unchanged rows are not
 * written.
 */
export async function updateVolumeObservations(tx: Tx, sightings: readonly VolumeSighting[]): Promise<void> {
  const said = sightings.filter(({ seen }) => seen.state !== "absent");
  if (said.length === 0) return;
  await sql`
    update volumes set
      used_bytes = case when said.state = 'present' then said.used_bytes else volumes.used_bytes end,
      problem = case when said.state = 'present' then '' else said.message end
    from unnest(
      ${said.map(({ seen }) => seen.volume_id)}::integer[], ${said.map(({ machineId }) => machineId)}::integer[],
      ${said.map(({ seen }) => seen.state)}::text[], ${said.map(({ seen }) => seen.used_bytes)}::bigint[],
      ${said.map(({ seen }) => seen.message.replaceAll("\0", ""))}::text[]
    ) as said (id, machine_id, state, used_bytes, message)
    where volumes.id = said.id and volumes.deleted_at is null and ${IS_ON_MACHINE("said")}
      and (volumes.problem <> said.message or said.state = 'present' and volumes.used_bytes <> said.used_bytes)
  `.execute(tx.db);
}

/** Ends deleted volumes whose hosts report that no data is left; returns their places. */
export async function buryVolumes(
  tx: Tx,
  sightings: readonly VolumeSighting[],
): Promise<readonly { readonly machine_id: MachineId | null; readonly network_disk_id: NetworkDiskId | null }[]> {
  const gone = sightings.filter(({ seen }) => seen.state === "absent");
  if (gone.length === 0) return [];
  const { rows } = await sql<{ machine_id: MachineId | null; network_disk_id: NetworkDiskId | null }>`
    update volumes set deleted_at = ${tx.now}::timestamptz, used_bytes = 0, problem = ''
    from unnest(
      ${gone.map(({ seen }) => seen.volume_id)}::integer[], ${gone.map(({ machineId }) => machineId)}::integer[]
    ) as gone (id, machine_id)
    where volumes.id = gone.id and volumes.deleting_at is not null and volumes.deleted_at is null
      and ${IS_ON_MACHINE("gone")}
    returning volumes.machine_id, volumes.network_disk_id
  `.execute(tx.db);
  return rows;
}

/** True when the volume lies on the machine of the named row, or on a network disk that the machine mounts. */
const IS_ON_MACHINE = (row: string) => sql`(
  volumes.machine_id = ${sql.ref(`${row}.machine_id`)}
  or exists (
    select from network_disk_mounts
    where network_disk_mounts.network_disk_id = volumes.network_disk_id
      and network_disk_mounts.machine_id = ${sql.ref(`${row}.machine_id`)}
  )
)`;
