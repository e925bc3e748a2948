import { answerOf } from "../../../base/allowed-action.ts";
import { notFound, type AppError } from "../../../base/errors.ts";
import {
  asId,
  type InstanceId,
  type MachineId,
  type NetworkDiskId,
  type UserId,
  type VolumeId,
} from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { describeMachines } from "../hosts/index.ts";
import { releaseHold } from "../../money/ledger/index.ts";
import { listProgress } from "../../rental/tasks/index.ts";
import { abandonClone, findOpenClone } from "./clones/service.ts";
import { describeClone } from "./clones/rules/clone.ts";
import { cloneFailure } from "./clones/rules/clone.ts";
import { listClones } from "./clones/store.ts";
import { notifyVolumes } from "./machines/store.ts";
import { listNetworkDiskMounts, listNetworkDiskOwners } from "./network/store.ts";
import { machineAway, NETWORK_CLONE, refuseDeletion, whyIncomplete } from "./rules/refusals.ts";
import type { VolumeRecord } from "./schema.ts";
import { takeUnusedHold } from "./metering/store.ts";
import { volumeRecord } from "./views.ts";
import {
  deleteAttachments,
  findVolumeForUpdate,
  insertAttachments,
  listAttachmentsOfInstances,
  listAttachmentsOfVolumes,
  listVolumes,
  lockVolumes,
  markVolumeDeleted,
  markVolumeDeleting,
  type Attachment,
  type Volume,
} from "./volume-store.ts";

/** One volume in one container, in the words of the protocol (`DesiredInstance.mounts`). */
export type Mount = { readonly volume_id: number; readonly mount_path: string; readonly size_bytes: number };

/** Used bytes of a volume that an instance mounts. */
export type Filling = { readonly volumeId: VolumeId; readonly sizeBytes: bigint; readonly usedBytes: bigint };

export type VolumeKind = "local" | "network" | "all";

/** The caller's volumes as the contract shows them. */
export async function showVolumes(
  db: Reader,
  { userId, kind, now }: { readonly userId: UserId; readonly kind: VolumeKind; readonly now: Date },
): Promise<VolumeRecord[]> {
  const volumes = (await listVolumes(db, userId)).filter((volume) => kind === "all" || volume.place.kind === kind);
  const attachments = Map.groupBy(
    await listAttachmentsOfVolumes(
      db,
      volumes.map((volume) => volume.id),
    ),
    (attachment) => attachment.volumeId,
  );
  const diskIds = volumes.flatMap(({ place }) => (place.kind === "network" ? [place.networkDiskId] : []));
  const owners = await listNetworkDiskOwners(db, diskIds);
  const machineOfDisk = new Map<NetworkDiskId, MachineId>(
    (await listNetworkDiskMounts(db, diskIds)).toReversed().map((mount) => [mount.networkDiskId, mount.machineId]),
  );
  const machineIdOf = ({ place }: Volume) =>
    place.kind === "local" ? place.machineId : machineOfDisk.get(place.networkDiskId);
  const machines = await describeMachines(
    db,
    volumes.flatMap((volume) => machineIdOf(volume) ?? []),
  );
  const clones = await listClones(
    db,
    volumes.map((volume) => volume.id),
  );
  const progress = await listProgress(
    db,
    [...clones.values()].map((clone) => clone.taskId),
  );
  const copyOf = new Map(
    [...clones].flatMap(([id, clone]) =>
      cloneFailure(clone, now) === undefined ? [[clone.sourceId, id] as const] : [],
    ),
  );
  return volumes.map((volume) => {
    const clone = clones.get(volume.id);
    const instanceIds = (attachments.get(volume.id) ?? []).map(({ instanceId }) => instanceId);
    const machineId = machineIdOf(volume);
    const machine = machineId && machines.get(machineId);
    const ownerId = volume.place.kind === "network" ? owners.get(volume.place.networkDiskId) : machine?.hostId;
    return volumeRecord(volume, {
      machine,
      // A volume's disk and machine are never removed, so an owner is always found.
      hostId: ownerId ?? userId,
      attachments: attachments.get(volume.id) ?? [],
      clone: clone && describeClone(clone, progress.get(clone.taskId), now),
      actions: {
        delete: answerOf(refuseDeletion(volume.id, { instanceIds, copyId: copyOf.get(volume.id) })),
        clone: answerOf(refuseCloning(volume, { machine, incomplete: whyIncomplete(volume.id, clone, now) })),
      },
    });
  });
}

/** Refuses to clone a volume; the offer that the copy would go to may refuse it as well. */
function refuseCloning(
  { place }: Volume,
  {
    machine,
    incomplete,
  }: {
    readonly machine: { readonly id: MachineId; readonly isConnected: boolean } | undefined;
    readonly incomplete: string | undefined;
  },
): AppError | string | undefined {
  const why = incomplete ?? (place.kind === "network" ? NETWORK_CLONE : undefined);
  if (why !== undefined) return `${why.charAt(0).toUpperCase()}${why.slice(1)}`;
  return machine?.isConnected === false ? machineAway(machine.id) : undefined;
}

/**
 * Deletes a volume of the caller: it disappears from the account, and its host is told to delete the data. 404 when
 * there is none of this id, 409 while an instance uses it or a clone reads it.
 */
export async function deleteVolume(tx: Tx, userId: UserId, id: VolumeId): Promise<void> {
  const volume = await findVolumeForUpdate(tx, id, userId);
  if (volume === undefined) throw notFound("no_such_volume", "Volume with that ID does not exist.");
  const instanceIds = (await listAttachmentsOfVolumes(tx.db, [id])).map(({ instanceId }) => instanceId);
  const refused = refuseDeletion(id, { instanceIds, copyId: await findOpenClone(tx, id) });
  if (refused !== undefined) throw refused;
  await endVolume(tx, volume);
}

/** Takes a volume from its owner, and tells its host to delete the data. The caller holds its lock; nothing uses it. */
export async function endVolume(tx: Tx, volume: Volume): Promise<void> {
  const { id } = volume;
  await abandonClone(tx, id, volume.userId);
  const machineIds = await machinesOf(tx, volume);
  await markEnded(tx, id, machineIds);
  // A volume that was never charged, such as a failed clone, is not settled again: only this gives the hold back.
  const unused = await takeUnusedHold(tx, id);
  if (unused !== undefined) await releaseHold(tx, unused);
}

async function markEnded(tx: Tx, id: VolumeId, machineIds: readonly MachineId[]): Promise<void> {
  // Without a machine, no data was ever written to it.
  if (machineIds.length === 0) return markVolumeDeleted(tx, id);
  await markVolumeDeleting(tx, id);
  await notifyVolumes(tx, machineIds);
}

async function machinesOf(tx: Tx, { place }: Volume): Promise<readonly MachineId[]> {
  if (place.kind === "local") return [place.machineId];
  return (await listNetworkDiskMounts(tx.db, [place.networkDiskId])).map((mount) => mount.machineId);
}

/** Stores the mounts of an instance. They come from `planVolumeLink` in the same transaction. */
export async function attachVolumes(tx: Tx, instanceId: InstanceId, mounts: readonly Mount[]): Promise<void> {
  await insertAttachments(
    tx,
    mounts.map((mount) => ({
      volumeId: asId<VolumeId>(mount.volume_id),
      instanceId,
      mountPath: mount.mount_path,
    })),
  );
}

/** Detaches all volumes of these instances; safe to repeat, also for instances without volumes. */
export async function detachVolumes(tx: Tx, instanceIds: readonly InstanceId[]): Promise<void> {
  await deleteAttachments(tx, instanceIds);
}

/** A volume of an instance that another instance mounts as well. */
export type SharedVolume = { readonly volumeId: VolumeId; readonly otherId: InstanceId };

/** Locks the volumes that these instances mount: volumes are locked before the ledger. */
export async function lockVolumesOf(tx: Tx, instanceIds: readonly InstanceId[]): Promise<void> {
  const attachments = await listAttachmentsOfInstances(tx.db, instanceIds);
  await lockVolumes(
    tx,
    attachments.map(({ volumeId }) => volumeId),
  );
}

/**
 * Other instances that mount the volumes of this one. The volumes are locked: until the transaction ends, no other
 * transaction decides whether one of them is in use.
 */
export async function lockSharedVolumes(tx: Tx, instanceId: InstanceId): Promise<readonly SharedVolume[]> {
  const volumeIds = (await listAttachmentsOfInstances(tx.db, [instanceId])).map((attachment) => attachment.volumeId);
  if (volumeIds.length === 0) return [];
  await lockVolumes(tx, volumeIds);
  return (await listAttachmentsOfVolumes(tx.db, volumeIds))
    .filter((attachment) => attachment.instanceId !== instanceId)
    .map(({ volumeId, instanceId: otherId }) => ({ volumeId, otherId }));
}

/** Mounts of each of these instances, outer paths first; instances without volumes are missing. */
export async function listMounts(
  db: Reader,
  instanceIds: readonly InstanceId[],
): Promise<ReadonlyMap<InstanceId, readonly Mount[]>> {
  return mapAttachments(db, instanceIds, ({ volumeId, mountPath, sizeBytes }) =>
    toMount(volumeId, mountPath, sizeBytes),
  );
}

/** Size and used bytes of the volumes of these instances, as their hosts last reported. */
export async function listFilling(
  db: Reader,
  instanceIds: readonly InstanceId[],
): Promise<ReadonlyMap<InstanceId, readonly Filling[]>> {
  return mapAttachments(db, instanceIds, ({ volumeId, sizeBytes, usedBytes }) => ({ volumeId, sizeBytes, usedBytes }));
}

async function mapAttachments<T>(
  db: Reader,
  instanceIds: readonly InstanceId[],
  show: (attachment: Attachment) => T,
): Promise<ReadonlyMap<InstanceId, readonly T[]>> {
  const attachments = await listAttachmentsOfInstances(db, instanceIds);
  const byInstance = Map.groupBy(attachments, (attachment) => attachment.instanceId);
  return new Map([...byInstance].map(([instanceId, own]) => [instanceId, own.map(show)]));
}

export function toMount(volumeId: VolumeId, mountPath: string, sizeBytes: bigint): Mount {
  return { volume_id: volumeId, mount_path: mountPath, size_bytes: Number(sizeBytes) };
}
