import type { Place } from "../../../../../../protocol/index.ts";
import { asId, type MachineId, type UserId, type VolumeId } from "../../../../base/ids.ts";
import { invalid, notFound } from "../../../../base/errors.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { cancelCopies, nameOf, requestResult, startCopyTask, type TaskMeans } from "../../tasks/index.ts";
import { listMachinesOfVolume, refuseIncomplete } from "../../../supply/volumes/for-instances.ts";
import { readPath, readPlaceId, refuseOverlap, type PlaceId } from "./rules/copy-place.ts";
import { copyDoorOf, describeDoor, isLocal, requireLocalPath, type CopyDoor } from "./rules/local-copy.ts";
import { findOwn, requireOnHost, requireReachable } from "./task-service.ts";
import { showInstances, type Viewpoint } from "../service.ts";
import { noSuchInstance } from "../lifecycle/transitions.ts";

export type CopyWish = {
  readonly src_id?: unknown;
  readonly dst_id?: unknown;
  readonly src_path?: unknown;
  readonly dst_path?: unknown;
};

/** Has one host, or two, copy between two of the caller's instances and volumes; returns a sentence on it. */
export async function startCopy(tx: Tx, means: TaskMeans, userId: UserId, wish: CopyWish): Promise<string> {
  const [from, to] = [readPlaceId(wish.src_id, "src_id"), readPlaceId(wish.dst_id, "dst_id")];
  const source: Place = { ...from, path: readPath(wish.src_path, "src_path") };
  const destination: Place = { ...to, path: readPath(wish.dst_path, "dst_path") };
  refuseOverlap(source, destination);
  const machines = await chooseMachines(tx, userId, source, destination);
  await requireReachable(tx, machines.sourceMachineId, nameOf(source));
  await requireReachable(tx, machines.destinationMachineId, nameOf(destination));
  await startCopyTask(tx, means, { userId, source, destination, ...machines, isFresh: false, isCompressed: true });
  const shown = [destination, source].find(({ kind }) => kind === "instance");
  const route = `from ${nameOf(source)} to ${nameOf(destination)}`;
  return shown === undefined
    ? `Copying ${route}.`
    : `Copying ${route}: check instance status bar of ${nameOf(shown)} (status_msg) for its progress.`;
}

/** Where a copy between an instance and the caller's computer begins or ends, and how to make it. */
export type LocalCopy = CopyDoor & { readonly isSource: boolean; readonly msg: string };

/**
 * The way into the instance of a copy from or to the caller's own computer, whose rsync does the rest; undefined when
 * both sides are here.
 */
export async function openLocalCopy(
  tx: Tx,
  view: Omit<Viewpoint, "now">,
  userId: UserId,
  wish: CopyWish,
): Promise<LocalCopy | undefined> {
  const { src_id, dst_id, src_path, dst_path } = wish;
  const [isFromLocal, isToLocal] = [isLocal(src_id), isLocal(dst_id)];
  if (!isFromLocal && !isToLocal) return undefined;
  if (isFromLocal && isToLocal) {
    throw invalid("src_id", "Invalid src_id. It and dst_id both name your own computer: one must be C.<instance>.");
  }
  const [field, remoteId] = isToLocal ? (["src_id", src_id] as const) : (["dst_id", dst_id] as const);
  const place = readPlaceId(remoteId, field);
  const path = isToLocal ? readPath(src_path, "src_path") : readPath(dst_path, "dst_path");
  if (isToLocal) requireLocalPath(dst_path, "dst_path");
  else requireLocalPath(src_path, "src_path");
  if (place.kind === "volume") {
    await requireVolume(tx, userId, place);
    const advice = "name an instance that has the volume, and the path at which it is mounted there.";
    throw invalid(field, `Invalid ${field}. A volume has no way to your own computer of its own: ${advice}`);
  }
  const { id } = await requireOnHost(tx, { userId, instanceId: place.id }, noSuchInstance);
  const [record] = await showInstances(tx.db, [{ userId, instanceId: id }], { ...view, now: tx.now });
  if (record === undefined) throw noSuchInstance(id);
  const door = copyDoorOf(record, path);
  return { ...door, isSource: isToLocal, msg: describeDoor(door, isToLocal) };
}

/** Cancels the caller's copies to this place; a repeated call does nothing. Returns a sentence on it. */
export async function cancelCopy(tx: Tx, userId: UserId, dstId: unknown): Promise<string> {
  const place = readPlaceId(dstId, "dst_id");
  if (place.kind === "volume") await requireVolume(tx, userId, place);
  else if ((await findOwn(tx, { userId, instanceId: place.id })) === undefined) throw noSuchInstance(place.id);
  const count = await cancelCopies(tx, userId, place);
  return count === 0 ? `Nothing is being copied to ${nameOf(place)}.` : `The copy to ${nameOf(place)} is cancelled.`;
}

/** The source of a copy whose size is asked for. */
export type SizeWish = Pick<CopyWish, "src_id" | "src_path">;

/**
 * Has the host add up the bytes that a copy would read; returns the last part of the result's address. The host prints
 * the number, a tab and the path.
 */
export async function requestCopySize(tx: Tx, means: TaskMeans, userId: UserId, wish: SizeWish): Promise<string> {
  const place = readPlaceId(wish.src_id, "src_id");
  const path = readPath(wish.src_path, "src_path");
  if (place.kind === "volume") {
    await requireVolume(tx, userId, place);
    const advice = "name an instance that has the volume, and the path at which it is mounted there.";
    throw invalid("src_id", `Invalid src_id. A volume is measured through an instance: ${advice}`);
  }
  const { id, machineId } = await requireOnHost(tx, { userId, instanceId: place.id }, noSuchInstance);
  // The root has folders that the system fills, without an end.
  const argv = ["du", "-s", "-b", ...(path === "/" ? ["-x"] : []), path];
  const action = { type: "execute" as const, instance_id: id, argv };
  return requestResult(tx, means, { machineId, userId, instanceId: id, action });
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
  const [nowhere, field] = sourceMachineId === undefined ? [source, "src_id"] : [destination, "dst_id"];
  throw invalid(field, `${nameOf(nowhere)} is on no machine: nothing can be copied from or to it now.`);
}

async function machinesOf(
  tx: Tx,
  userId: UserId,
  place: PlaceId,
  field: "src_id" | "dst_id",
): Promise<readonly MachineId[]> {
  if (place.kind === "volume") {
    const machineIds = await requireVolume(tx, userId, place);
    await refuseIncomplete(tx, asId<VolumeId>(place.id), field);
    return machineIds;
  }
  return [(await requireOnHost(tx, { userId, instanceId: place.id }, noSuchInstance)).machineId];
}

async function requireVolume(tx: Tx, userId: UserId, { id }: PlaceId): Promise<readonly MachineId[]> {
  const machineIds = await listMachinesOfVolume(tx.db, userId, asId<VolumeId>(id));
  if (machineIds === undefined) throw notFound("no_such_volume", `Volume ${id} does not exist.`);
  return machineIds;
}
