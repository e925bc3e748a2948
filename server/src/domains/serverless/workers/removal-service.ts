import type { InstanceId, UserId } from "../../../base/ids.ts";
import { inSavepoint } from "../../../db/savepoint.ts";
import { isRetryableState } from "../../../db/sql-state.ts";
import type { Tx } from "../../../db/transaction.ts";
import { nextRemovalAt } from "./rules/removal.ts";
import { deleteWorker, markRemovalFailed, type RemovableWorker } from "../endpoints/store.ts";

export type DestroyOrder = {
  readonly userId: UserId;
  readonly instanceId: InstanceId;
  /** Who asks and why, for the instance's events. */
  readonly actor: string;
  readonly cause: string;
};

/**
 * Orders the destruction of an instance; the instances domain provides it. `destroyed` means that the order is
 * committed with the transaction, also when it was given before or nothing is left to destroy: the instance converges to
 * its end from there. `failed` means that it will not, and that somebody has to ask again.
 */
export type DestroyInstance = (tx: Tx, order: DestroyOrder) => Promise<"destroyed" | "failed">;

const CAUSE = "endpoint_deleted";

export type RemovalMeans = {
  readonly destroyInstance: DestroyInstance;
  readonly actor: string;
  /** The end of what it works for, unless another one is given. */
  readonly cause?: string;
};
const REFUSED = "the instance could not be destroyed";

/** Destroys one locked worker and forgets it; a worker that could not be removed keeps its row, the reason and a date. */
export async function removeWorker(
  tx: Tx,
  worker: RemovableWorker,
  { destroyInstance, actor, cause = CAUSE }: RemovalMeans,
): Promise<"removed" | "failed"> {
  const { instanceId, userId } = worker;
  const failure = await inSavepoint(tx, (part) => destroyInstance(part, { userId, instanceId, actor, cause })).then(
    (outcome) => (outcome === "destroyed" ? undefined : REFUSED),
    (error: unknown) => {
      // The whole transaction is run again for these.
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
