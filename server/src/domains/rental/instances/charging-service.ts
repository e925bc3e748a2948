import type { InstanceId } from "../../../base/ids.ts";
import type { Tx } from "../../../db/transaction.ts";
import { isHeldUntilStopped } from "../../money/ledger/index.ts";
import { lockAnyInstance } from "./rentals/terms-service.ts";
import { applyHappenings } from "./lifecycle/transitions.ts";

/**
 * Stops an instance that is wanted to run and has nothing set aside for it, or only what it costs until it is stopped. Its
 * data is kept. False when that is not so any more: somebody stopped it, or gave it what it needs, before its lock was there.
 */
export async function stopUnpaid(tx: Tx, id: InstanceId, cause: "balance_empty" | "cap_reached"): Promise<boolean> {
  const instance = await lockAnyInstance(tx, id);
  const isWanted = instance?.desired === "running" && instance.phase !== "ending" && instance.phase !== "ended";
  if (!isWanted || instance.isBackground) return false;
  if (instance.holdId !== undefined && !(await isHeldUntilStopped(tx.db, instance.holdId))) return false;
  await applyHappenings(tx, [{ instance, event: "stopRequested", actor: "rule", cause, desired: "stopped" }]);
  return true;
}
