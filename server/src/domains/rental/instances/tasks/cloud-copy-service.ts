import type { TaskAction } from "../../../../../../protocol/index.ts";
import { asId, type CloudConnectionId, type InstanceId, type UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { openConnection } from "../../../people/clouds/for-instances.ts";
import { cancelCloudCopies, nameOf, startCloudCopyTask, type TaskMeans } from "../../tasks/index.ts";
import { noSuchInstance } from "../rules/refusals.ts";
import { machinesOf, onNoMachine, requireVolume } from "./copy-service.ts";
import { readCloudPath, readConnectionId, readFlags, readIsUpload } from "./rules/cloud-copy.ts";
import { readPath, readPlaceId } from "./rules/copy-place.ts";
import { findOwn, requireReachable } from "./task-service.ts";

export type CloudCopyWish = {
  readonly instance_id?: string | number;
  readonly src?: string;
  readonly dst?: string;
  readonly selected?: string | number;
  readonly transfer?: string;
  readonly flags?: readonly string[];
};

/** Has the host of an instance or volume copy between it and a cloud storage of the caller's. */
export async function startCloudCopy(
  tx: Tx,
  means: TaskMeans,
  userId: UserId,
  wish: CloudCopyWish,
): Promise<{ readonly token: string; readonly msg: string }> {
  const isUpload = readIsUpload(wish.transfer);
  const place = readPlaceId(wish.instance_id, "instance_id");
  const connectionId = readConnectionId(wish.selected);
  const [here, there] = isUpload ? (["src", "dst"] as const) : (["dst", "src"] as const);
  const path = readPath(wish[here], here);
  const [cloudPath, flags] = [readCloudPath(wish[there], there), readFlags(wish.flags)];
  const { settings } = await openConnection(tx, userId, asId<CloudConnectionId>(connectionId), means.encryption);
  const [machineId] = await machinesOf(tx, userId, place, "instance_id");
  if (machineId === undefined) throw onNoMachine(place, "instance_id");
  await requireReachable(tx, machineId, nameOf(place));
  const connection = `${settings.provider}.${connectionId}`;
  const action: TaskAction = {
    ...{ type: "cloud_copy", place: { ...place, path }, is_upload: isUpload, connection },
    ...{ cloud_path: cloudPath, flags, settings },
  };
  const instanceId = place.kind === "instance" ? asId<InstanceId>(place.id) : undefined;
  const token = await startCloudCopyTask(tx, means, { machineId, userId, instanceId, action });
  const [from, to] = isUpload ? [nameOf(place), connection] : [connection, nameOf(place)];
  const where = instanceId === undefined ? "" : ": check instance status bar (status_msg) for its progress";
  return { token, msg: `Copying from ${from} to ${to}${where}. When it ends, result_url says how.` };
}

/** Cancels the caller's copies between this place and cloud storage; a repeated call does nothing. */
export async function cancelCloudCopy(tx: Tx, userId: UserId, dstId: string | number): Promise<string> {
  const place = readPlaceId(dstId, "dst_id");
  if (place.kind === "volume") await requireVolume(tx, userId, place);
  else if ((await findOwn(tx, { userId, instanceId: place.id })) === undefined) throw noSuchInstance(place.id);
  const count = await cancelCloudCopies(tx, userId, place);
  const name = nameOf(place);
  return count === 0
    ? `Nothing is being copied between ${name} and cloud storage.`
    : `The copy between ${name} and cloud storage is cancelled. What it has copied so far stays.`;
}
