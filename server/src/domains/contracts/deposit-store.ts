import { sql } from "kysely";
import type { InstanceId, UserId } from "../../base/ids.ts";
import { nanos, type Nanos } from "../../base/money.ts";
import type { Reader, Tx } from "../../db/transaction.ts";
import { listDepositBalances } from "../ledger/index.ts";

/** What was prepaid for an instance, with what is left of it. It changes only under the lock of the instance. */
export type Deposit = {
  readonly instanceId: InstanceId;
  readonly userId: UserId;
  readonly leftNanos: Nanos;
  /** As agreed at the last payment. */
  readonly discountPpm: number;
  readonly prepayCount: number;
  /** What the discount has saved since the deposit was last empty. */
  readonly atStakeNanos: Nanos;
  /** What it has saved over the whole rental. */
  readonly savedNanos: Nanos;
  /** What was left has gone back: the rental is over. */
  readonly isClosed: boolean;
};

export async function findDeposit(db: Reader, instanceId: InstanceId): Promise<Deposit | undefined> {
  const row = await db.selectFrom("deposits").selectAll().where("instance_id", "=", instanceId).executeTakeFirst();
  if (row === undefined) return undefined;
  const left = await listDepositBalances(db, [{ id: instanceId, userId: row.user_id }]);
  return {
    instanceId,
    userId: row.user_id,
    leftNanos: left.get(instanceId) ?? nanos(0n),
    discountPpm: row.discount_ppm,
    prepayCount: row.prepay_count,
    atStakeNanos: nanos(row.at_stake_nanos),
    savedNanos: nanos(row.saved_nanos),
    isClosed: row.closed_at !== null,
  };
}

/** Notes a payment into the deposit; the first one makes it. */
export async function noteDeposit(
  tx: Tx,
  { instanceId, userId, discountPpm }: Pick<Deposit, "instanceId" | "userId" | "discountPpm">,
): Promise<void> {
  await sql`
    insert into deposits (instance_id, user_id, discount_ppm, prepay_count, opened_at)
    values (${instanceId}, ${userId}, ${discountPpm}, 1, ${tx.now}::timestamptz)
    on conflict (instance_id) do update set
      discount_ppm = excluded.discount_ppm, prepay_count = deposits.prepay_count + 1
  `.execute(tx.db);
}

/** Notes what a charge out of the deposit saved; when that emptied it, nothing is at stake any more. */
export async function noteSaving(
  tx: Tx,
  instanceId: InstanceId,
  { savedNanos, isSpent }: { readonly savedNanos: bigint; readonly isSpent: boolean },
): Promise<void> {
  await sql`
    update deposits set
      saved_nanos = saved_nanos + ${savedNanos}::bigint,
      at_stake_nanos = case when ${isSpent}::boolean then 0 else at_stake_nanos + ${savedNanos}::bigint end
    where instance_id = ${instanceId}
  `.execute(tx.db);
}

/** Zero rows means that it was closed before. */
export async function closeDeposit(tx: Tx, instanceId: InstanceId): Promise<"closed" | "stale"> {
  const result = await tx.db
    .updateTable("deposits")
    .set({ closed_at: tx.now })
    .where("instance_id", "=", instanceId)
    .where("closed_at", "is", null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n ? "closed" : "stale";
}

/** Deposits of rentals that are over, whose last running time is charged. */
export async function listReturnable(db: Reader, limit: number): Promise<readonly InstanceId[]> {
  const { rows } = await sql<{ instance_id: InstanceId }>`
    select deposits.instance_id
    from deposits
    join instances on instances.id = deposits.instance_id
    where deposits.closed_at is null and instances.ended_at is not null and not exists (
      select from instance_runs as run
      where run.instance_id = deposits.instance_id and run.charged_running_ms < run.running_ms
    )
    order by instances.ended_at
    limit ${limit}
  `.execute(db);
  return rows.map((row) => row.instance_id);
}
