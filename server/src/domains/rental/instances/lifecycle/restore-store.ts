import type { Tx } from "../../../../db/transaction.ts";

/** Lets hosts report newer runs of all instances than the restored database knows, up to that time. */
export async function expectNewerRuns(tx: Tx, until: Date): Promise<void> {
  await tx.db
    .updateTable("instances")
    .set({ newer_runs_until_at: until })
    .where("ended_at", "is", null)
    .where("phase", "<>", "ended")
    .execute();
}
