import type { Place } from "../../../../protocol/index.ts";
import { asId, type InstanceId, type MachineId, type UserId, type VolumeId } from "../../base/ids.ts";
import { invalid, notFound } from "../../base/errors.ts";
import type { Tx } from "../../db/transaction.ts";
import { cancelCopies, nameOf, startLongTask, type TaskMeans } from "../tasks/index.ts";
import { listMachinesOfVolume } from "../volumes/index.ts";
import { readPath, readPlaceId, refuseOverlap, type PlaceId } from "./copy-place.ts";
import { findOwn, requireOnHost, requireReachable } from "./task-service.ts";
import { noSuchInstance } from "./transitions.ts";

export type CopyWish = {
  readonly src_id?: unknown;
  readonly dst_id?: unknown;
  readonly src_path?: unknown;
  readonly dst_path?: unknown;
};

/** Has a host copy from one of the caller's instances and volumes to another; returns a sentence on it. */
export async function startCopy(tx: Tx, means: TaskMeans, userId: UserId, wish: CopyWish): Promise<string> {
  const [from, to] = [readPlaceId(wish.src_id, "src_id"), readPlaceId(wish.dst_id, "dst_id")];
  const source: Place = { ...from, path: readPath(wish.src_path, "src_path") };
  const destination: Place = { ...to, path: readPath(wish.dst_path, "dst_path") };
  refuseOverlap(source, destination);
  const machineId = await requireCommonMachine(tx, userId, source, destination);
  await requireReachable(tx, machineId, nameOf(source));
  // A volume has no status of its own: a copy to one is followed where it comes from.
  const shown = [destination, source].find(({ kind }) => kind === "instance");
  await startLongTask(tx, means, {
    machineId,
    userId,
    instanceId: shown && asId<InstanceId>(shown.id),
    action: { type: "copy", source, destination },
  });
  const route = `from ${nameOf(source)} to ${nameOf(destination)}`;
  return shown === undefined
    ? `Copying ${route}.`
    : `Copying ${route}: check instance status bar of ${nameOf(shown)} (status_msg) for its progress.`;
}

/** Ends the caller's copies to this place early; asking twice is no error. Returns a sentence on it. */
export async function cancelCopy(tx: Tx, userId: UserId, dstId: unknown): Promise<string> {
  const place = readPlaceId(dstId, "dst_id");
  if (place.kind === "volume") await requireVolume(tx, userId, place);
  else if ((await findOwn(tx, { userId, instanceId: place.id })) === undefined) throw noSuchInstance(place.id);
  const count = await cancelCopies(tx, userId, place);
  return count === 0 ? `Nothing is being copied to ${nameOf(place)}.` : `The copy to ${nameOf(place)} is cancelled.`;
}

async function requireCommonMachine(tx: Tx, userId: UserId, source: PlaceId, destination: PlaceId) {
  const there = new Set(await machinesOf(tx, userId, destination));
  const both = (await machinesOf(tx, userId, source)).filter((id) => there.has(id));
  const [machineId] = both;
  if (machineId !== undefined) return machineId;
  const message = `${nameOf(source)} and ${nameOf(destination)} are on different machines: copying works within one.`;
  throw invalid("dst_id", message);
}

async function machinesOf(tx: Tx, userId: UserId, place: PlaceId): Promise<readonly MachineId[]> {
  if (place.kind === "volume") return requireVolume(tx, userId, place);
  return [(await requireOnHost(tx, { userId, instanceId: place.id }, noSuchInstance)).machineId];
}

async function requireVolume(tx: Tx, userId: UserId, { id }: PlaceId): Promise<readonly MachineId[]> {
  const machineIds = await listMachinesOfVolume(tx.db, userId, asId<VolumeId>(id));
  if (machineIds === undefined) throw notFound("no_such_volume", `Volume ${id} does not exist.`);
  return machineIds;
}
