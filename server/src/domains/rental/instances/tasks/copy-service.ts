import type { Place } from "../../../../../../protocol/index.ts";
import { asId, type MachineId, type UserId, type VolumeId } from "../../../../base/ids.ts";
import { invalid, notFound, type AppError } from "../../../../base/errors.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { backupNameOf, cancelCopies, nameOf, startCopyTask, type TaskMeans } from "../../tasks/index.ts";
import { listMachinesOfVolume, refuseIncomplete } from "../../../supply/volumes/for-instances.ts";
import { readBackupId, readPath, readPlaceId, refuseOverlap, type PlaceId } from "./rules/copy-place.ts";
import { findOwn, requireOnHost, requireReachable } from "./task-service.ts";
import { noSuchInstance } from "../rules/refusals.ts";

export type CopyWish = {
  readonly src_id?: unknown;
  readonly dst_id?: unknown;
  readonly src_path?: unknown;
  readonly dst_path?: unknown;
};

/** Has a host receive files of a backup of the caller's; throws `not_found` where there is none. */
export type Restore = (
  tx: Tx,
  wish: {
    readonly userId: UserId;
    readonly contractId: number;
    readonly path: string;
    readonly destination: Place;
    readonly destinationMachineId: MachineId;
  },
) => Promise<void>;

export type CopyMeans = { readonly means: TaskMeans; readonly restore: Restore };

/** Has one host, or two, copy between two of the caller's instances and volumes; returns a sentence on it. */
export async function startCopy(tx: Tx, copying: CopyMeans, userId: UserId, wish: CopyWish): Promise<string> {
  const contractId = readBackupId(wish.src_id);
  if (contractId !== undefined) return startRestore(tx, copying.restore, { userId, contractId }, wish);
  const [from, to] = [readPlaceId(wish.src_id, "src_id"), readPlaceId(wish.dst_id, "dst_id")];
  const source: Place = { ...from, path: readPath(wish.src_path, "src_path") };
  const destination: Place = { ...to, path: readPath(wish.dst_path, "dst_path") };
  refuseOverlap(source, destination);
  const machines = await chooseMachines(tx, userId, source, destination);
  await requireReachable(tx, machines.sourceMachineId, nameOf(source));
  await requireReachable(tx, machines.destinationMachineId, nameOf(destination));
  await startCopyTask(tx, copying.means, {
    userId,
    source,
    destination,
    ...machines,
    isFresh: false,
    isCompressed: true,
  });
  return describeCopy(`from ${nameOf(source)} to ${nameOf(destination)}`, [destination, source]);
}

async function startRestore(
  tx: Tx,
  restore: Restore,
  { userId, contractId }: { readonly userId: UserId; readonly contractId: number },
  wish: CopyWish,
): Promise<string> {
  const to = readPlaceId(wish.dst_id, "dst_id");
  const path = readPath(wish.src_path, "src_path");
  const destination: Place = { ...to, path: readPath(wish.dst_path, "dst_path") };
  const [destinationMachineId] = await machinesOf(tx, userId, to, "dst_id");
  if (destinationMachineId === undefined) throw onNoMachine(to, "dst_id");
  await requireReachable(tx, destinationMachineId, nameOf(to));
  await restore(tx, { userId, contractId, path, destination, destinationMachineId });
  return describeCopy(`from ${backupNameOf({ id: contractId })} to ${nameOf(to)}`, [destination]);
}

/** A sentence that says where the progress is shown: at the first of these places that is an instance. */
function describeCopy(route: string, places: readonly PlaceId[]): string {
  const shown = places.find(({ kind }) => kind === "instance");
  return shown === undefined
    ? `Copying ${route}.`
    : `Copying ${route}: check instance status bar of ${nameOf(shown)} (status_msg) for its progress.`;
}

/** Cancels the caller's copies to this place; a repeated call does nothing. Returns a sentence on it. */
export async function cancelCopy(tx: Tx, userId: UserId, dstId: unknown): Promise<string> {
  const place = readPlaceId(dstId, "dst_id");
  if (place.kind === "volume") await requireVolume(tx, userId, place);
  else if ((await findOwn(tx, { userId, instanceId: place.id })) === undefined) throw noSuchInstance(place.id);
  const count = await cancelCopies(tx, userId, place);
  return count === 0 ? `Nothing is being copied to ${nameOf(place)}.` : `The copy to ${nameOf(place)} is cancelled.`;
}

/**
 * Chooses one machine that has both places if there is one; a copy between two machines goes through the server.
 */
async function chooseMachines(tx: Tx, userId: UserId, source: PlaceId, destination: PlaceId) {
  const to = await machinesOf(tx, userId, destination, "dst_id");
  const from = await machinesOf(tx, userId, source, "src_id");
  const common = from.find((id) => to.includes(id));
  const [sourceMachineId, destinationMachineId] = [common ?? from[0], common ?? to[0]];
  if (sourceMachineId !== undefined && destinationMachineId !== undefined) {
    return { sourceMachineId, destinationMachineId };
  }
  throw sourceMachineId === undefined ? onNoMachine(source, "src_id") : onNoMachine(destination, "dst_id");
}

export function onNoMachine(place: PlaceId, field: "src_id" | "dst_id" | "instance_id"): AppError {
  return invalid(field, `${nameOf(place)} is on no machine: nothing can be copied from or to it now.`);
}

/** The machines on which the caller can have files copied from or to this place. */
export async function machinesOf(
  tx: Tx,
  userId: UserId,
  place: PlaceId,
  field: "src_id" | "dst_id" | "instance_id",
): Promise<readonly MachineId[]> {
  if (place.kind === "volume") {
    const machineIds = await requireVolume(tx, userId, place);
    await refuseIncomplete(tx, asId<VolumeId>(place.id), field);
    return machineIds;
  }
  return [(await requireOnHost(tx, { userId, instanceId: place.id }, noSuchInstance)).machineId];
}

/** The machines on which the caller's volume is. */
export async function requireVolume(tx: Tx, userId: UserId, { id }: PlaceId): Promise<readonly MachineId[]> {
  const machineIds = await listMachinesOfVolume(tx.db, userId, asId<VolumeId>(id));
  if (machineIds === undefined) throw notFound("no_such_volume", `Volume ${id} does not exist.`);
  return machineIds;
}
