import type { MachineId, UserId, VolumeId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { listNetworkDiskMounts } from "../network/store.ts";
import { listVolumes } from "../volume-store.ts";

/** The machines on which the user's volume can be reached; undefined when this user has no such volume. */
export async function listMachinesOfVolume(
  db: Reader,
  userId: UserId,
  id: VolumeId,
): Promise<readonly MachineId[] | undefined> {
  const volume = (await listVolumes(db, userId)).find((one) => one.id === id);
  if (volume === undefined) return undefined;
  const { place } = volume;
  if (place.kind === "local") return [place.machineId];
  return (await listNetworkDiskMounts(db, [place.networkDiskId])).map((mount) => mount.machineId);
}
