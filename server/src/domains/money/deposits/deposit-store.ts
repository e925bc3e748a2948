import { sql, type RawBuilder } from "kysely";
import type { InstanceId, UserId } from "../../../base/ids.ts";
import { nanos, type Nanos } from "../../../base/money.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { endedRental, hasUnchargedTime } from "../../rental/instances/for-deposits.ts";
import { listDepositBalances } from "../ledger/index.ts";
import { isSettled } from "../tabs/index.ts";

/** The deposit of an instance. It changes only under the lock of the instance. */
export type Deposit = {
  readonly instanceId: InstanceId;
  readonly userId: UserId;
  readonly leftNanos: Nanos;
  /** The discount of the last payment, in millionths of the price. */
  readonly discountPpm: number;
  readonly prepayCount: number;
  /** The savings by the discount since the deposit was last empty. */
  readonly atStakeNanos: Nanos;
  /** The savings by the discount over the whole rental. */
  readonly savedNanos: Nanos;
  /** True once the rest was returned, after the end of the rental. */
  readonly isClosed: boolean;
};

export async function findDeposit(db: Reader, instanceId: InstanceId): Promise<Deposit | undefined> {
  return (await listDeposits(db, [instanceId])).get(instanceId);
}

/** The deposits of many instances; instances that were never prepaid are left out. */
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

/** The deposits of these users that are not closed, empty ones included. */
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

/** Notes a payment into the deposit; the first one creates it. */
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

/** The savings by charges that one deposit paid, and whether they used it up. */
export type DepositUse = { readonly instanceId: InstanceId; readonly savedNanos: bigint; readonly isSpent: boolean };

/** Notes the savings by charges that deposits paid. An empty deposit has no savings at stake any more. */
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

/** Closes a deposit; `stale` when it was closed before. */
export async function closeDeposit(tx: Tx, instanceId: InstanceId): Promise<"closed" | "stale"> {
  const result = await tx.db
    .updateTable("deposits")
    .set({ closed_at: tx.now })
    .where("instance_id", "=", instanceId)
    .where("closed_at", "is", null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n ? "closed" : "stale";
}

/** SQL: true when all counted running time of an instance is charged, and it waits for no settlement. */
const isAllCharged = (id: RawBuilder<unknown>) => sql<boolean>`${isSettled(id)} and not ${hasUnchargedTime(id)}`;

export async function isCharged(db: Reader, id: InstanceId): Promise<boolean> {
  const { rows } = await sql<{ is_charged: boolean }>`
    select ${isAllCharged(sql`${id}::integer`)} as is_charged
  `.execute(db);
  return rows[0]?.is_charged === true;
}

/**
 * Deposits of rentals that are over, the longest ended first, whose last running time is charged and whose hosts'
 * failures are credited: a settlement stays due until both are done.
 */
export async function listReturnable(db: Reader, limit: number): Promise<readonly InstanceId[]> {
  const { rows } = await sql<{ instance_id: InstanceId }>`
    select deposits.instance_id
    from deposits join lateral ${endedRental(sql`deposits.instance_id`)} as rental on true
    where deposits.closed_at is null and ${isAllCharged(sql`deposits.instance_id`)}
    order by rental.ended_at
    limit ${limit}
  `.execute(db);
  return rows.map((row) => row.instance_id);
}
