import { toDollars } from "../../../../base/money.ts";
import { idOfScope, kindOfScope } from "../../ledger/index.ts";
import type { CappedData } from "./capped-service.ts";
import type { Arrears } from "./store.ts";

export function viewArrears({ beganAt, deleteAt, storageNanosPerHour, minBalance }: Arrears) {
  return {
    began_at: beganAt.getTime() / 1000,
    delete_at: deleteAt.getTime() / 1000,
    storage_per_hour: toDollars(storageNanosPerHour),
    floor: toDollars(minBalance),
  };
}

export function viewCappedData({ capId, scope, period, beganAt, deleteAt, storageNanosPerHour, ...data }: CappedData) {
  return {
    cap_id: capId,
    scope: kindOfScope(scope),
    scope_id: idOfScope(scope),
    period,
    began_at: beganAt.getTime() / 1000,
    delete_at: deleteAt.getTime() / 1000,
    storage_per_hour: toDollars(storageNanosPerHour),
    instance_ids: [...data.instanceIds],
    volume_ids: [...data.volumeIds],
  };
}
