// When the schedules of machines have to be reviewed although nothing happens on them.
import { sql } from "kysely";
import type { MachineId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";

export type Review = { readonly machineId: MachineId; readonly atMs: number | undefined };

/** Notes the times of the next reviews of these machines. */
export async function setReviews(tx: Tx, reviews: readonly Review[]): Promise<void> {
  if (reviews.length === 0) return;
  await sql`
    update machines set review_at = review.at
    from unnest(
      ${reviews.map((review) => review.machineId)}::integer[],
      ${reviews.map(({ atMs }) => (atMs === undefined ? null : new Date(atMs)))}::timestamptz[]
    ) as review (machine_id, at)
    where machines.id = review.machine_id and machines.review_at is distinct from review.at
  `.execute(tx.db);
}

/** Machines whose schedules are due for a review. */
export async function listDueReviews(db: Reader, now: Date, limit: number): Promise<readonly MachineId[]> {
  const rows = await db
    .selectFrom("machines")
    .select("id")
    .where("review_at", "<=", now)
    .orderBy("review_at")
    .limit(limit)
    .execute();
  return rows.map((row) => row.id);
}
