import type { UserId } from "../../../../base/ids.ts";
import { invalid } from "../../../../base/errors.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { nameOf, requestResult, type TaskMeans } from "../../tasks/index.ts";
import { listMounts } from "../../../supply/volumes/for-instances.ts";
import { requireVolume, type CopyWish } from "./copy-service.ts";
import { listProxyPorts, takeProxyPorts } from "../access/proxy-port-store.ts";
import { readPath, readPlaceId, type PlaceId } from "./rules/copy-place.ts";
import {
  copyDoorOf,
  describeDoor,
  isLocal,
  lacksProxyPorts,
  requireLocalPath,
  type CopyDoor,
} from "./rules/local-copy.ts";
import { requireOnHost } from "./task-service.ts";
import { lockInstanceOf, showInstances, type Viewpoint } from "../service.ts";
import { listInstancesOf } from "../store.ts";
import { noSuchInstance } from "../rules/refusals.ts";

/** The end of a copy at an instance, its direction, and the command that makes the copy. */
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
    const mounted = await requireMounted(tx, userId, { place, path, field });
    const instead = `${nameOf({ kind: "instance", id: mounted.id })}:${mounted.path}`;
    throw invalid(field, `Invalid ${field}. A volume has no way to your own computer of its own. Use ${instead}.`);
  }
  const { id } = await requireOnHost(tx, { userId, instanceId: place.id }, noSuchInstance);
  const look = async () => {
    const [record] = await showInstances(tx.db, [{ userId, instanceId: id }], { ...view, now: tx.now });
    if (record === undefined) throw noSuchInstance(id);
    return record;
  };
  const record = await look();
  const needsPorts = lacksProxyPorts(record);
  if (needsPorts) await takePortsForCopies(tx, { userId, instanceId: id });
  const door = copyDoorOf(needsPorts ? await look() : record, path);
  return { ...door, isSource: isToLocal, msg: describeDoor(door, isToLocal) };
}

/** Takes proxy ports, unless another copy of this moment was first. The proxy hears of them at the commit. */
async function takePortsForCopies(
  tx: Tx,
  request: { readonly userId: UserId; readonly instanceId: number },
): Promise<void> {
  const instance = await lockInstanceOf(tx, request);
  if (instance === undefined || (await listProxyPorts(tx.db, [instance.id])).has(instance.id)) return;
  await takeProxyPorts(tx, [instance.id]);
}

/** The source of a copy whose size is asked for. */
export type SizeWish = Pick<CopyWish, "src_id" | "src_path">;

/**
 * Has the host add up the bytes that a copy would read, in a volume through an instance that has it; returns the last
 * part of the result's address. The host prints the number, a tab and the path.
 */
export async function requestCopySize(tx: Tx, means: TaskMeans, userId: UserId, wish: SizeWish): Promise<string> {
  const field = "src_id";
  const place = readPlaceId(wish.src_id, field);
  const asked = readPath(wish.src_path, "src_path");
  const isVolume = place.kind === "volume";
  const source = isVolume
    ? await requireMounted(tx, userId, { place, path: asked, field })
    : { id: place.id, path: asked };
  const { path } = source;
  const { id, machineId } = await requireOnHost(tx, { userId, instanceId: source.id }, noSuchInstance);
  // The root has folders that the system fills, without an end.
  const argv = ["du", "-s", "-b", ...(path === "/" ? ["-x"] : []), path];
  const action = { type: "execute" as const, instance_id: id, argv };
  return requestResult(tx, means, { machineId, userId, instanceId: id, action });
}

type VolumePath = { readonly place: PlaceId; readonly path: string; readonly field: "src_id" | "dst_id" };

/** An instance of the caller that has the volume, and the path there; one that was started is preferred. */
async function requireMounted(
  tx: Tx,
  userId: UserId,
  { place, path, field }: VolumePath,
): Promise<{ readonly id: number; readonly path: string }> {
  await requireVolume(tx, userId, place);
  const instances = await listInstancesOf(tx.db, userId);
  const mounts = await listMounts(
    tx.db,
    instances.map(({ id }) => id),
  );
  const found = instances
    .toSorted((a, b) => Number(b.phase === "running") - Number(a.phase === "running"))
    .flatMap(({ id }) => (mounts.get(id) ?? []).map((mount) => ({ id, ...mount })))
    .find((mount) => mount.volume_id === place.id);
  if (found !== undefined)
    return { id: found.id, path: path === "/" ? found.mount_path : `${found.mount_path}${path}` };
  throw invalid(
    field,
    `Invalid ${field}. Volume ${place.id} is reached through an instance, and none of yours has it.`,
  );
}
