import { sql, type RawBuilder } from "kysely";
import type { InstanceId, UserId } from "../../../base/ids.ts";
import { integers, timestamps } from "../../../db/arrays.ts";
import { insertRows } from "../../../db/insert-rows.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { asHoldId, type HoldId } from "../ledger/index.ts";

/** The tab of an instance that the same transaction creates. */
export type NewTab = {
  readonly instanceId: InstanceId;
  readonly userId: UserId;
  /** True for an instance that costs nothing, however long it runs. */
  readonly isFree: boolean;
  readonly holdId: HoldId | undefined;
};

export async function openTabs(tx: Tx, tabs: readonly NewTab[]): Promise<void> {
  await insertRows(
    tx,
    "instance_tabs",
    tabs.map(({ instanceId, userId, isFree, holdId }) => ({
      instance_id: instanceId,
      user_id: userId,
      is_free: isFree,
      hold_id: holdId ?? null,
    })),
  );
}

/** The first proof that a run of an instance runs, with the start of that run. */
export type FirstProof = { readonly instanceId: InstanceId; readonly at: Date };

/**
 * Notes that these instances are charged from their first proven running on; later proofs leave that date. Their next
 * settlement, unless they are free, is now at the latest.
 */
export async function startMetering(tx: Tx, proven: readonly FirstProof[]): Promise<void> {
  if (proven.length === 0) return;
  await sql`
    update instance_tabs as tab set
      metered_from_at = coalesce(tab.metered_from_at, proven.at),
      storage_charged_until_at = coalesce(tab.storage_charged_until_at, proven.at),
      settle_at = case when tab.is_free then tab.settle_at else least(tab.settle_at, ${tx.now}::timestamptz) end
    from (
      select instance_id, min(at) as at
      from unnest(
        ${integers(proven.map((one) => one.instanceId))}::integer[],
        ${timestamps(proven.map((one) => one.at.getTime()))}::timestamptz[]
      ) as each (instance_id, at)
      group by instance_id
    ) as proven
    where tab.instance_id = proven.instance_id
  `.execute(tx.db);
}

/** Makes instances due for settlement now, if they have run, have a hold or are due later; free ones are left alone. */
export async function makeDue(tx: Tx, ids: readonly InstanceId[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    update instance_tabs set settle_at = ${tx.now}::timestamptz
    where instance_id = any(${[...ids]}::integer[]) and not is_free
      and (metered_from_at is not null or hold_id is not null or settle_at is not null)
  `.execute(tx.db);
}

/** The hold of an instance. The caller holds the lock of the instance. */
export async function findHold(db: Reader, id: InstanceId): Promise<HoldId | undefined> {
  const row = await db.selectFrom("instance_tabs").select("hold_id").where("instance_id", "=", id).executeTakeFirst();
  return row === undefined || row.hold_id === null ? undefined : asHoldId(row.hold_id);
}

/** Stores the hold of an instance. The caller holds the lock of the instance. */
export async function setHold(tx: Tx, id: InstanceId, holdId: HoldId): Promise<void> {
  await tx.db.updateTable("instance_tabs").set({ hold_id: holdId }).where("instance_id", "=", id).execute();
}

/** Removes the holds, and the due dates, of those of these instances that never ran; returns these holds. */
export async function clearUnmeteredHolds(tx: Tx, ids: readonly InstanceId[]): Promise<readonly HoldId[]> {
  const { rows } = await sql<{ hold_id: bigint }>`
    update instance_tabs as tab set hold_id = null, settle_at = null
    from (
      select instance_id, hold_id from instance_tabs
      where instance_id = any(${[...ids]}::integer[]) and metered_from_at is null and hold_id is not null
      for update
    ) as before
    where tab.instance_id = before.instance_id
    returning before.hold_id
  `.execute(tx.db);
  return rows.map((row) => asHoldId(row.hold_id));
}

/** The id of an instance in a statement: a column or a parameter. */
type IdInSql = RawBuilder<unknown>;

/**
 * SQL for other stores: the time up to which the storage of an instance is charged; null before it was proven to run.
 */
export const storageChargedUntil = (id: IdInSql) =>
  sql<Date | null>`(select storage_charged_until_at from instance_tabs where instance_id = ${id})`;

/** SQL for other stores: true for an instance that was proven to run. */
export const isMetered = (id: IdInSql) =>
  sql<boolean>`exists (select from instance_tabs where instance_id = ${id} and metered_from_at is not null)`;

/** SQL for other stores: true for an instance that waits for no settlement. */
export const isSettled = (id: IdInSql) =>
  sql<boolean>`exists (select from instance_tabs where instance_id = ${id} and settle_at is null)`;
