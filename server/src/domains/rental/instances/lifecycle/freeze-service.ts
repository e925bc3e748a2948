import type { InstanceId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { keepAccounts } from "../../../people/accounts/index.ts";
import { findOwner } from "./freeze-store.ts";
import { lockAnyInstance } from "../rentals/terms-service.ts";
import { applyHappenings } from "./transitions.ts";

/**
 * Stops an instance of a frozen account, one that runs, waits for devices or bids for them, and keeps its data. False
 * when there is nothing to stop: it is over or was stopped, or the freeze was lifted.
 */
export async function stopFrozen(tx: Tx, id: InstanceId): Promise<boolean> {
  const ownerId = await findOwner(tx.db, id);
  const freeze = ownerId && (await keepAccounts(tx, [ownerId])).get(ownerId);
  if (freeze === undefined) return false;
  const instance = await lockAnyInstance(tx, id);
  const isWanted = instance?.desired === "running" && instance.phase !== "ending" && instance.phase !== "ended";
  if (!isWanted) return false;
  const cause = "account_frozen";
  await applyHappenings(tx, [{ instance, event: "stopRequested", actor: "rule", cause, desired: "stopped" }]);
  return true;
}
