import { sql } from "kysely";
import type { InstanceId, UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";

export type EndingRental = {
  readonly id: InstanceId;
  readonly userId: UserId;
  readonly machineId: number;
  readonly endAt: Date;
};

/**
 * Marks and returns rentals that end before that moment and whose renters were not told yet; each end is returned once.
 */
export async function takeEndingRentals(tx: Tx, before: Date, limit: number): Promise<readonly EndingRental[]> {
  const { rows } = await sql<EndingRental>`
    update instances set told_end_at = end_at
    where id in (
      select id from instances
      where ended_at is null and end_at > ${tx.now}::timestamptz and end_at <= ${before}::timestamptz
        and told_end_at is distinct from end_at and not is_background and phase <> 'ending'
      order by end_at limit ${limit}::integer
      for update skip locked
    )
    returning id, user_id as "userId", machine_id as "machineId", end_at as "endAt"
  `.execute(tx.db);
  return rows;
}
