import { conflict } from "../../../../base/errors.ts";
import type { InstanceId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { lockSharedVolumes } from "../../../supply/volumes/for-instances.ts";
import type { Phase } from "./rules/lifecycle.ts";
import { listInstancesById } from "../store.ts";

/** True when the instance's container writes to its volumes, or is about to without another request. */
export function mayWrite(phase: Phase): boolean {
  return phase !== "stopped" && phase !== "ended";
}

/**
 * Throws when another instance that is not stopped has a volume of this instance. A volume has one writer: many
 * instances may list it, and at most one of them may be anything but stopped. The check is due whenever an instance
 * begins to be more than stopped; it keeps its right through every restart and every wait for devices, until it has
 * certainly stopped.
 */
export async function requireSoleWriter(tx: Tx, instanceId: InstanceId): Promise<void> {
  const shared = await lockSharedVolumes(tx, instanceId);
  if (shared.length === 0) return;
  const others = await listInstancesById(
    tx.db,
    shared.map(({ otherId }) => otherId),
  );
  const writer = others.find((other) => mayWrite(other.phase));
  const volume = shared.find(({ otherId }) => otherId === writer?.id);
  if (writer === undefined || volume === undefined) return;
  const message = `Volume ${volume.volumeId} is in use by instance ${writer.id}: stop that instance first.`;
  throw conflict("volume_in_use", message, { extra: { volume_id: volume.volumeId, instance_id: writer.id } });
}
