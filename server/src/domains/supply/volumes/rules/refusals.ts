import { conflict, type AppError } from "../../../../base/errors.ts";
import type { InstanceId, MachineId, VolumeId } from "../../../../base/ids.ts";
import { cloneFailure, type CloneState } from "../clones/rules/clone.ts";

/** Refuses to delete a volume that instances mount, or that another volume is filled from. */
export function refuseDeletion(
  id: VolumeId,
  { instanceIds, copyId }: { readonly instanceIds: readonly InstanceId[]; readonly copyId: VolumeId | undefined },
): AppError | undefined {
  if (instanceIds.length > 0) {
    const names = instanceIds.join(", ");
    return inUse(id, `Volume ${id} is attached to instance ${names}: destroy the instance first.`);
  }
  if (copyId === undefined) return undefined;
  return inUse(id, `Volume ${id} is being cloned to volume ${copyId}: wait for that, or delete that one first.`);
}

function inUse(id: VolumeId, message: string): AppError {
  return conflict("volume_in_use", message, { extra: { volume_id: id } });
}

/** The reason why a volume is no whole one yet, as the rest of a sentence; undefined when it is. */
export function whyIncomplete(id: VolumeId, clone: CloneState | undefined, now: Date): string | undefined {
  if (clone === undefined) return undefined;
  const failure = cloneFailure(clone, now);
  if (failure === undefined) return `volume ${id} is being cloned; wait until that is done.`;
  return `volume ${id} is an incomplete clone (${failure}); delete it and clone again.`;
}

export const NETWORK_CLONE = "a network volume cannot be cloned. Copy from an instance that has it mounted.";

export function machineAway(id: MachineId): AppError {
  return conflict("host_offline", `Machine ${id} is offline: it cannot copy now. Try again when it is back.`);
}
