import type { WorkerGroupId } from "../../../base/ids.ts";
import type { Tx } from "../../../db/transaction.ts";

/** Counts a failed worker of the group, and sets the time before which nothing is rented; returns the count. */
export async function raiseFailures(
  tx: Tx,
  id: WorkerGroupId,
  backOffMs: (failureCount: number) => number,
): Promise<number> {
  const row = await tx.db
    .selectFrom("worker_groups")
    .select("failure_count")
    .where("id", "=", id)
    .forNoKeyUpdate()
    .executeTakeFirst();
  const count = (row?.failure_count ?? 0) + 1;
  const resumesAt = new Date(tx.now.getTime() + backOffMs(count));
  await tx.db
    .updateTable("worker_groups")
    .set({ failure_count: count, resumes_at: resumesAt })
    .where("id", "=", id)
    .execute();
  return count;
}
