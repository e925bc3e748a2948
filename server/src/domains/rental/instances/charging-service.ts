import type { InstanceId } from "../../../base/ids.ts";
import type { Tx } from "../../../db/transaction.ts";
import { isHeldUntilStopped } from "../../money/ledger/for-instances.ts";
import { findHold } from "../../money/tabs/index.ts";
import { lockAnyInstance } from "./rentals/terms-service.ts";
import { applyHappenings } from "./lifecycle/transitions.ts";

/**
 * Stops an instance that should run and has nothing set aside, or only its cost until it has stopped. Its data is kept.
 * False when the instance was stopped, or got a hold, before its lock was taken.
 */
export async function stopUnpaid(tx: Tx, id: InstanceId, cause: "balance_empty" | "cap_reached"): Promise<boolean> {
  const instance = await lockAnyInstance(tx, id);
  const isWanted = instance?.desired === "running" && instance.phase !== "ending" && instance.phase !== "ended";
  if (!isWanted || instance.isBackground) return false;
  const holdId = await findHold(tx.db, id);
  if (holdId !== undefined && !(await isHeldUntilStopped(tx.db, holdId))) return false;
  await applyHappenings(tx, [{ instance, event: "stopRequested", actor: "rule", cause, desired: "stopped" }]);
  return true;
}
