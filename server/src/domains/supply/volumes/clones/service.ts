import { invalid, notFound } from "../../../../base/errors.ts";
import { asId, type MachineId, type UserId, type VolumeId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { describeMachines } from "../../hosts/index.ts";
import { cancelCopies, startCopyTask, type EndedTask, type TaskMeans } from "../../../rental/tasks/index.ts";
import { cloneFailure } from "./rules/clone.ts";
import { machineAway, NETWORK_CLONE, whyIncomplete } from "../rules/refusals.ts";
import { deleteClonesOf, failCloneOf, insertClone, listClones, listClonesFrom } from "./store.ts";
import type { Payer } from "../metering/credit.ts";
import { readSize, toGb } from "../offers/rules/listing.ts";
import { rentLocalVolume, requireVolumeOffer } from "../local/service.ts";
import { awaitFilling, startMetering } from "../metering/store.ts";
import { findVolumeForUpdate, type Volume } from "../volume-store.ts";

export type CloneWish = {
  readonly src_id: number;
  readonly dst_id: number;
  /** Size in GB. */
  readonly size?: number | undefined;
  readonly disable_compression?: boolean | undefined;
};

const PROBLEM_LENGTH_MAX = 500;

/** Rents a volume of an offer and has it filled from one of the caller's; returns the new volume. */
export async function cloneVolume(tx: Tx, means: TaskMeans, payer: Payer, wish: CloneWish): Promise<VolumeId> {
  const { userId } = payer;
  const offer = await requireVolumeOffer(tx, wish.dst_id);
  const source = await findVolumeForUpdate(tx, asId<VolumeId>(wish.src_id), userId);
  if (source === undefined) throw notFound("no_such_volume", `Volume ${wish.src_id} does not exist.`);
  await refuseIncomplete(tx, source.id, "src_id");
  const { place } = source;
  if (place.kind === "network") {
    throw invalid("src_id", `src_id: ${NETWORK_CLONE}`);
  }
  await requireConnected(tx, [place.machineId, offer.machineId]);
  const { id, sizeBytes } = await rentLocalVolume(tx, offer, {
    ...{ ...payer, name: source.name, fieldPrefix: "" },
    size: planSize(wish.size, source),
  });
  const { taskId, expiresAt } = await startCopyTask(tx, means, {
    userId,
    source: { kind: "volume", id: source.id, path: "/" },
    destination: { kind: "volume", id, path: "/" },
    sourceMachineId: place.machineId,
    destinationMachineId: offer.machineId,
    isFresh: true,
    isCompressed: wish.disable_compression !== true,
  });
  const expectedBytes = source.usedBytes < sizeBytes ? source.usedBytes : sizeBytes;
  // An empty volume is of no use to the renter, so it is charged only once it is filled.
  await awaitFilling(tx, id);
  await insertClone(tx, { volumeId: id, sourceId: source.id, taskId, expiresAt, expectedBytes });
  return id;
}

/** The size of the new volume: that of the source in bytes, unless the request asks for more. */
function planSize(sizeGb: number | undefined, source: Volume): bigint {
  if (sizeGb === undefined) return source.sizeBytes;
  const sizeBytes = readSize(sizeGb, "size");
  if (sizeBytes >= source.sizeBytes) return sizeBytes;
  throw invalid("size", `size must be at least that of the source, ${toGb(source.sizeBytes)} GB`);
}

async function requireConnected(tx: Tx, machineIds: readonly MachineId[]): Promise<void> {
  const machines = await describeMachines(tx.db, machineIds);
  const away = machineIds.find((id) => machines.get(id)?.isConnected !== true);
  if (away !== undefined) throw machineAway(away);
}

/** Throws `invalid` naming `field` while a volume is being filled, or when its filling failed. */
export async function refuseIncomplete(tx: Tx, id: VolumeId, field: string): Promise<void> {
  const why = whyIncomplete(id, (await listClones(tx.db, [id])).get(id), tx.now);
  if (why !== undefined) throw invalid(field, `${field}: ${why}`);
}

/** The volume that is being filled from this one; undefined when there is none. */
export async function findOpenClone(tx: Tx, sourceId: VolumeId): Promise<VolumeId | undefined> {
  const clones = await listClonesFrom(tx.db, sourceId);
  return clones.find((clone) => cloneFailure(clone, tx.now) === undefined)?.volumeId;
}

/** Cancels the filling of a volume that its owner deletes. */
export async function abandonClone(tx: Tx, volumeId: VolumeId, userId: UserId): Promise<void> {
  const clone = (await listClones(tx.db, [volumeId])).get(volumeId);
  if (clone === undefined) return;
  await cancelCopies(tx, userId, { kind: "volume", id: volumeId });
  await deleteClonesOf(tx, [clone.taskId]);
}

/** Applies the results of finished tasks: their volumes are complete, or never will be. */
export async function concludeClones(tx: Tx, ended: readonly EndedTask[]): Promise<void> {
  const done = ended.filter((task) => task.isSuccess).map((task) => task.id);
  if (done.length > 0) await startMetering(tx, await deleteClonesOf(tx, done));
  for (const { id, isSuccess, text } of ended) if (!isSuccess) await failCloneOf(tx, id, oneLine(text));
}

function oneLine(text: string): string {
  const line = text
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .replace(/\.$/, "");
  return line.slice(0, PROBLEM_LENGTH_MAX).toWellFormed() || "its host gave no reason";
}
