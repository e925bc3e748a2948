import type { InstanceId, UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { keepAccounts } from "../../../people/accounts/index.ts";
import { findOwner } from "./freeze-store.ts";
import { lockAnyInstance } from "../rentals/terms-service.ts";
import type { Instance } from "../instance.ts";
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
  if (instance === undefined || !isWanted(instance)) return false;
  const cause = "account_frozen";
  await applyHappenings(tx, [{ instance, event: "stopRequested", actor: "rule", cause, desired: "stopped" }]);
  return true;
}

/**
 * Stops any instance by an administrator's order, and keeps its data. Returns the renter; undefined when there is no such
 * instance, or nothing to stop.
 */
export async function stopByOperator(tx: Tx, id: InstanceId, administratorId: UserId): Promise<UserId | undefined> {
  const instance = await lockAnyInstance(tx, id);
  if (instance === undefined || !isWanted(instance)) return undefined;
  const [actor, cause] = [`user:${administratorId}`, "stopped_by_operator"] as const;
  await applyHappenings(tx, [{ instance, event: "stopRequested", actor, cause, desired: "stopped" }]);
  return instance.userId;
}

function isWanted({ desired, phase }: Instance): boolean {
  return desired === "running" && phase !== "ending" && phase !== "ended";
}
