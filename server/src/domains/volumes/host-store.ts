import { sql } from "kysely";
import type { DesiredVolume, ObservedVolume } from "../../../../protocol/index.ts";
import type { InstanceId, MachineId, NetworkDiskId, VolumeId } from "../../base/ids.ts";
import type { Reader, Tx } from "../../db/transaction.ts";

/** Told to every process whenever the volumes of these machines changed. */
export const VOLUMES_CHANNEL = "volumes_changed";

export async function notifyVolumes(tx: Tx, machineIds: readonly MachineId[]): Promise<void> {
  if (machineIds.length === 0) return;
  await sql`select pg_notify(${VOLUMES_CHANNEL}, ${machineIds.join(",")})`.execute(tx.db);
}

/** Every volume on the machine's own disk that is not gone yet. */
export async function listLocalDesired(db: Reader, machineId: MachineId): Promise<readonly DesiredVolume[]> {
  const rows = await db
    .selectFrom("volumes")
    .select(["id", "size_bytes", "deleting_at"])
    .where("machine_id", "=", machineId)
    .where("deleted_at", "is", null)
    .orderBy("id")
    .execute();
  return rows.map((row) => toDesired({ ...row, mount_path: null }));
}

/** The network volumes that these instances mount, and those to be deleted of network disks that the machine mounts. */
export async function listNetworkDesired(
  db: Reader,
  machineId: MachineId,
  instanceIds: readonly InstanceId[],
): Promise<readonly DesiredVolume[]> {
  const rows = await db
    .selectFrom("network_disk_mounts")
    .innerJoin("volumes", "volumes.network_disk_id", "network_disk_mounts.network_disk_id")
    .select(["volumes.id", "volumes.size_bytes", "volumes.deleting_at", "network_disk_mounts.mount_path"])
    .where("network_disk_mounts.machine_id", "=", machineId)
    .where("volumes.deleted_at", "is", null)
    .where((eb) =>
      eb.or([
        eb("volumes.deleting_at", "is not", null),
        eb.exists(
          eb
            .selectFrom("volume_attachments")
            .select("volume_attachments.volume_id")
            .whereRef("volume_attachments.volume_id", "=", "volumes.id")
            .where("volume_attachments.instance_id", "=", sql<InstanceId>`any(${instanceIds}::integer[])`),
        ),
      ]),
    )
    .orderBy("volumes.id")
    .execute();
  return rows.map(toDesired);
}

function toDesired(row: {
  readonly id: VolumeId;
  readonly size_bytes: bigint;
  readonly deleting_at: Date | null;
  readonly mount_path: string | null;
}): DesiredVolume {
  return {
    volume_id: row.id,
    size_bytes: Number(row.size_bytes),
    network_directory: row.mount_path,
    state: row.deleting_at === null ? "present" : "absent",
  };
}

/** What one host says of one volume. */
export type VolumeSighting = { readonly machineId: MachineId; readonly seen: ObservedVolume };

/** Stores what hosts say of volumes that are on them; of others they may say nothing. Unchanged rows are not written. */
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

/** Ends the volumes that were to be deleted and of which their hosts say that nothing is left; returns their places. */
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

/** Whether the volume lies on the machine of the named row, or on a network disk that the machine mounts. */
const IS_ON_MACHINE = (row: string) => sql`(
  volumes.machine_id = ${sql.ref(`${row}.machine_id`)}
  or exists (
    select from network_disk_mounts
    where network_disk_mounts.network_disk_id = volumes.network_disk_id
      and network_disk_mounts.machine_id = ${sql.ref(`${row}.machine_id`)}
  )
)`;
