import type { DesiredVolume } from "../../../../../../protocol/index.ts";
import type { MachineId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { notifyMarket } from "../../hosts/index.ts";
import {
  buryVolumes,
  listLocalDesired,
  listNetworkDesired,
  notifyVolumes,
  updateVolumeObservations,
  type VolumeSighting,
  type Writer,
} from "./store.ts";
import { listNetworkDiskMounts } from "../network/store.ts";

/**
 * Desired volumes of machines: to keep local volumes, to mount network volumes of instances that write to them, and to
 * delete volumes that their owners deleted. A machine releases a network volume that is not named here, so that another
 * machine can have it.
 */
export async function listDesiredVolumes(
  db: Reader,
  machineIds: readonly MachineId[],
  writers: readonly Writer[],
): Promise<ReadonlyMap<MachineId, readonly DesiredVolume[]>> {
  const [local, network] = await Promise.all([
    listLocalDesired(db, machineIds),
    listNetworkDesired(db, machineIds, writers),
  ]);
  const wanted = Map.groupBy([...local, ...network], ({ machineId }) => machineId);
  return new Map([...wanted].map(([id, volumes]) => [id, volumes.map(({ volume }) => volume)]));
}

/** Stores the volumes that hosts report. A deleted volume is gone only when its host says so. */
export async function recordVolumes(tx: Tx, sightings: readonly VolumeSighting[]): Promise<void> {
  if (sightings.length === 0) return;
  await updateVolumeObservations(tx, sightings);
  const buried = await buryVolumes(tx, sightings);
  const diskIds = buried.flatMap((volume) => volume.network_disk_id ?? []);
  const mounts = diskIds.length === 0 ? [] : await listNetworkDiskMounts(tx.db, diskIds);
  const machineIds = [
    ...buried.flatMap((volume) => volume.machine_id ?? []),
    ...mounts.map((mount) => mount.machineId),
  ];
  await notifyVolumes(tx, [...new Set(machineIds)]);
  // Only the machines' own disks have space that GPU offers show.
  await notifyMarket(tx, [...new Set(buried.flatMap((volume) => volume.machine_id ?? []))]);
}
