// Repairs by the reconciliation for which a tab has to know about its instance.
import type { InstanceId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { hasEnded, needsHold } from "../../../rental/instances/for-charging.ts";
import type { HoldId } from "../../ledger/index.ts";
import { isHoldOnTab, makeUnheldDue } from "../../tabs/for-charging.ts";

/** Makes an instance due that runs without a hold; its settlement places one, or stops the instance. */
export function settleUnheld(tx: Tx, id: InstanceId): Promise<boolean> {
  return makeUnheldDue(tx, id, needsHold);
}

/** True when an instance that has not ended, or is not settled to its end, names this hold. */
export function isHoldNamed(tx: Tx, holdId: HoldId): Promise<boolean> {
  return isHoldOnTab(tx, holdId, hasEnded);
}
