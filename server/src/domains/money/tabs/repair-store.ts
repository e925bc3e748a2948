// Repairs of tabs by the reconciliation. Each locks one row and returns whether it changed anything.
import { sql, type RawBuilder } from "kysely";
import type { InstanceId } from "../../../base/ids.ts";
import type { Tx } from "../../../db/transaction.ts";
import type { HoldId } from "../ledger/index.ts";

/** A condition on an instance, in SQL. */
type ConditionInSql = (id: RawBuilder<unknown>) => RawBuilder<boolean>;

/** Makes an instance due that has no date for its settlement. */
export async function scheduleSettlement(tx: Tx, id: InstanceId): Promise<boolean> {
  const result = await sql`
    update instance_tabs set settle_at = ${tx.now}::timestamptz
    where instance_id = ${id} and settle_at is null and metered_from_at is not null and not is_free
  `.execute(tx.db);
  return result.numAffectedRows === 1n;
}

/** Makes an instance due that has no hold but `needsHold`; its settlement places one, or stops the instance. */
export async function makeUnheldDue(tx: Tx, id: InstanceId, needsHold: ConditionInSql): Promise<boolean> {
  const result = await sql`
    update instance_tabs as tab set settle_at = ${tx.now}::timestamptz
    where tab.instance_id = ${id} and tab.hold_id is null
      and (tab.settle_at is null or tab.settle_at > ${tx.now}::timestamptz)
      and tab.metered_from_at is not null and ${needsHold(sql`tab.instance_id`)}
  `.execute(tx.db);
  return result.numAffectedRows === 1n;
}

/** Removes the name of a closed hold from an instance; its next settlement places a new hold. */
export async function forgetHold(tx: Tx, id: InstanceId, holdId: HoldId): Promise<boolean> {
  const result = await sql`
    update instance_tabs set hold_id = null,
      settle_at = case when metered_from_at is null or is_free then settle_at else ${tx.now}::timestamptz end
    where instance_id = ${id} and hold_id = ${holdId}::bigint
  `.execute(tx.db);
  return result.numAffectedRows === 1n;
}

/** True when this hold is named by an instance that has not ended, or is not settled to its end. */
export async function isHoldOnTab(tx: Tx, holdId: HoldId, hasEnded: ConditionInSql): Promise<boolean> {
  const row = await tx.db
    .selectFrom("instance_tabs as tab")
    .select("tab.instance_id")
    .where("tab.hold_id", "=", holdId)
    .where(sql<boolean>`(tab.settle_at is not null or not ${hasEnded(sql`tab.instance_id`)})`)
    .executeTakeFirst();
  return row !== undefined;
}
