import { inSavepoint } from "../../../db/savepoint.ts";
import { isRetryableState } from "../../../db/sql-state.ts";
import type { Tx } from "../../../db/transaction.ts";
import { destroyIfPresent } from "../../rental/instances/index.ts";
import { nextRemovalAt } from "./rules/removal.ts";
import { deleteWorker, markRemovalFailed, type RemovableWorker } from "../endpoints/store.ts";

const CAUSE = "endpoint_deleted";

/**
 * Destroys one locked worker and deletes its row; a worker that could not be removed keeps its row, with the reason
 * and the time of the next attempt. `actor` and `cause` are for the events of its instance.
 */
export async function removeWorker(
  tx: Tx,
  worker: RemovableWorker,
  { actor, cause = CAUSE }: { readonly actor: string; readonly cause?: string },
): Promise<"removed" | "failed"> {
  const { instanceId, userId } = worker;
  const failure = await inSavepoint(tx, (part) => destroyIfPresent(part, { userId, instanceId, actor, cause })).then(
    () => undefined,
    (error: unknown) => {
      // The whole transaction is run again after these errors.
      if (isRetryableState(error)) throw error;
      return error instanceof Error ? error.message : String(error);
    },
  );
  if (failure === undefined) {
    await deleteWorker(tx, instanceId);
    return "removed";
  }
  const attemptCount = worker.attemptCount + 1;
  await markRemovalFailed(tx, instanceId, { attemptCount, failure, nextAt: nextRemovalAt(tx.now, attemptCount) });
  return "failed";
}
