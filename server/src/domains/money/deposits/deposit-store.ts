import { sql } from "kysely";
import type { InstanceId, UserId } from "../../../base/ids.ts";
import { nanos, type Nanos } from "../../../base/money.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
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
  return (await listDeposits(db, [instanceId])).get(instanceId);
}

/** The same for many instances; those for which nothing was ever prepaid are left out. */
export async function listDeposits(
  db: Reader,
  instanceIds: readonly InstanceId[],
): Promise<ReadonlyMap<InstanceId, Deposit>> {
  if (instanceIds.length === 0) return new Map();
  const rows = await db
    .selectFrom("deposits")
    .selectAll()
    .where("instance_id", "=", sql<InstanceId>`any(${[...instanceIds]}::integer[])`)
    .execute();
  const left = await listDepositBalances(
    db,
    rows.map((row) => ({ id: row.instance_id, userId: row.user_id })),
  );
  return new Map(
    rows.map((row) => [
      row.instance_id,
      {
        instanceId: row.instance_id,
        userId: row.user_id,
        leftNanos: left.get(row.instance_id) ?? nanos(0n),
        discountPpm: row.discount_ppm,
        prepayCount: row.prepay_count,
        atStakeNanos: nanos(row.at_stake_nanos),
        savedNanos: nanos(row.saved_nanos),
        isClosed: row.closed_at !== null,
      },
    ]),
  );
}

/** The deposits of these users that are not closed, whether or not anything is left of them. */
export async function listOpenDeposits(
  db: Reader,
  userIds: readonly UserId[],
): Promise<readonly { readonly id: InstanceId; readonly userId: UserId }[]> {
  const rows = await db
    .selectFrom("deposits")
    .select(["instance_id as id", "user_id as userId"])
    .where("user_id", "=", sql<UserId>`any(${[...userIds]}::integer[])`)
    .where("closed_at", "is", null)
    .orderBy("instance_id")
    .execute();
  return rows;
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

/** What charges out of one deposit saved, and whether they used it up. */
export type DepositUse = { readonly instanceId: InstanceId; readonly savedNanos: bigint; readonly isSpent: boolean };

/** Notes what charges out of deposits saved; when they emptied one, nothing is at stake there any more. */
export async function noteSavings(tx: Tx, uses: readonly DepositUse[]): Promise<void> {
  if (uses.length === 0) return;
  await sql`
    update deposits set
      saved_nanos = deposits.saved_nanos + used.saved,
      at_stake_nanos = case when used.is_spent then 0 else deposits.at_stake_nanos + used.saved end
    from unnest(
      ${uses.map((use) => use.instanceId)}::integer[], ${uses.map((use) => use.savedNanos)}::bigint[],
      ${uses.map((use) => use.isSpent)}::boolean[]
    ) as used (instance_id, saved, is_spent)
    where deposits.instance_id = used.instance_id
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

/** Deposits of rentals that are over, whose last running time is charged and whose hosts' faults are made good. */
export async function listReturnable(db: Reader, limit: number): Promise<readonly InstanceId[]> {
  const { rows } = await sql<{ instance_id: InstanceId }>`
    select deposits.instance_id
    from deposits
    join instances on instances.id = deposits.instance_id
    where deposits.closed_at is null and instances.ended_at is not null and instances.settle_at is null and not exists (
      select from instance_runs as run
      where run.instance_id = deposits.instance_id and run.charged_running_ms < run.running_ms
    )
    order by instances.ended_at
    limit ${limit}
  `.execute(db);
  return rows.map((row) => row.instance_id);
}
