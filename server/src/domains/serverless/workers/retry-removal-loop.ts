import type { Clock } from "../../../base/clock.ts";
import type { Database } from "../../../db/connect.ts";
import { withTransaction } from "../../../db/transaction.ts";
import { removeWorker } from "./removal-service.ts";
import { claimDueWorker, deleteEmptyEndpointGroups, listDueWorkers } from "../endpoints/store.ts";

export type RetryWorkerRemovalDependencies = {
  readonly database: Database;
  readonly clock: Clock;
  readonly maxPerRun: number;
};

/** `skipped` workers were taken by another process, or gone before their turn. */
export type RetryWorkerRemovalStatus = {
  readonly examined: number;
  readonly removed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly groupsDeleted: number;
};

/**
 * Tries again to remove the workers of deleted endpoint groups that could not be removed, the most overdue first, each
 * in a transaction of its own; then forgets the groups whose last worker is gone. Safe to repeat and to run twice at once.
 */
export async function retryWorkerRemoval(
  { database, clock, maxPerRun }: RetryWorkerRemovalDependencies,
  now: Date,
): Promise<RetryWorkerRemovalStatus> {
  const due = await listDueWorkers(database.kysely, now, maxPerRun);
  const counts = { removed: 0, failed: 0, skipped: 0 };
  for (const instanceId of due) {
    const outcome = await withTransaction(database, clock, async (tx) => {
      const worker = await claimDueWorker(tx, instanceId);
      return worker === undefined ? "skipped" : removeWorker(tx, worker, { actor: "system" });
    });
    counts[outcome] += 1;
  }
  const groupsDeleted = await withTransaction(database, clock, deleteEmptyEndpointGroups);
  return { examined: due.length, ...counts, groupsDeleted };
}
