import { callerRefusal, narrowed, type AccessOf } from "../../../base/allowed-action.ts";
import type { Identity } from "../../../base/identity.ts";
import type { VolumeRecord } from "./schema.ts";

/** Narrows the actions of volumes to those that the caller's key may call. */
export function callerActions(identity: Identity, accessOf: AccessOf): (record: VolumeRecord) => VolumeRecord {
  const remove = { method: "DELETE", path: "/api/v0/volumes/", parameters: (id: number) => ({ id }) } as const;
  const copy = { method: "POST", path: "/api/v0/volumes/copy/" } as const;
  const [mayDelete, mayClone] = [callerRefusal(identity, remove, accessOf), callerRefusal(identity, copy, accessOf)];
  return (record) => ({
    ...record,
    allowed_actions: {
      delete: narrowed(mayDelete(record.id), record.allowed_actions.delete),
      clone: narrowed(mayClone(record.id), record.allowed_actions.clone),
    },
  });
}
