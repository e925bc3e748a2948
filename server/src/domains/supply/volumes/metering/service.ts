import type { MachineId, UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { listHostIds } from "../../hosts/index.ts";
import type { ChargeableVolume } from "./store.ts";
import { listNetworkDiskMounts, listNetworkDiskOwners } from "../network/store.ts";

/** A machine through which a volume can be reached, and since when; undefined for the whole life of the volume. */
export type Access = { readonly machineId: MachineId; readonly since: Date | undefined };

/**
 * A volume with the host that it pays, and the machines through which it can be reached: one of these has to be in
 * touch.
 */
export type BillableVolume = ChargeableVolume & {
  readonly hostId: UserId;
  readonly reachedThrough: readonly Access[];
};

/** Adds to these volumes the host who is paid, and the machines that prove that they are there. */
export async function placeVolumes(
  db: Reader,
  volumes: readonly ChargeableVolume[],
): Promise<readonly BillableVolume[]> {
  const diskIds = [...new Set(volumes.flatMap(({ networkDiskId }) => networkDiskId ?? []))];
  const machineIds = [...new Set(volumes.flatMap(({ machineId }) => machineId ?? []))];
  const hostIds = await listHostIds(db, machineIds);
  const [owners, mounts] = [await listNetworkDiskOwners(db, diskIds), await listNetworkDiskMounts(db, diskIds)];
  const machinesOf = Map.groupBy(mounts, (mount) => mount.networkDiskId);
  return volumes.flatMap((volume): readonly BillableVolume[] => {
    const { machineId, networkDiskId } = volume;
    const hostId = machineId === undefined ? networkDiskId && owners.get(networkDiskId) : hostIds.get(machineId);
    if (hostId === undefined) return [];
    const mounting = networkDiskId === undefined ? [] : (machinesOf.get(networkDiskId) ?? []);
    const reachedThrough =
      machineId === undefined
        ? mounting.map((mount) => ({ machineId: mount.machineId, since: mount.mountedAt }))
        : [{ machineId, since: undefined }];
    return [{ ...volume, hostId, reachedThrough }];
  });
}
