// What the reconciliation repairs of instances. Each takes the lock of one row and says whether there was anything to do.
import { sql } from "kysely";
import type { InstanceId } from "../../../base/ids.ts";
import type { Tx } from "../../../db/transaction.ts";
import type { HoldId } from "../ledger/index.ts";

/** Has an instance settled soon that is due at no time. */
export async function scheduleSettlement(tx: Tx, id: InstanceId): Promise<boolean> {
  const result = await sql`
    update instances set settle_at = ${tx.now}::timestamptz
    where id = ${id} and settle_at is null and metered_from_at is not null and not is_background
  `.execute(tx.db);
  return result.numAffectedRows === 1n;
}

/** Has an instance settled soon for which nothing is set aside; its settlement sets it aside, or stops it. */
export async function settleUnheld(tx: Tx, id: InstanceId): Promise<boolean> {
  const result = await sql`
    update instances set settle_at = ${tx.now}::timestamptz
    where id = ${id} and hold_id is null and (settle_at is null or settle_at > ${tx.now}::timestamptz)
      and metered_from_at is not null and not is_background and desired = 'running'
      and phase in ('starting', 'running', 'yielding')
  `.execute(tx.db);
  return result.numAffectedRows === 1n;
}

/** Forgets a hold that is not pending any more; what the instance may cost is set aside anew when it is settled. */
export async function forgetHold(tx: Tx, id: InstanceId, holdId: HoldId): Promise<boolean> {
  const result = await sql`
    update instances set hold_id = null,
      settle_at = case when metered_from_at is null or is_background then settle_at else ${tx.now}::timestamptz end
    where id = ${id} and hold_id = ${holdId}::bigint
  `.execute(tx.db);
  return result.numAffectedRows === 1n;
}

/** Whether an instance names this hold that is not over, or not settled to its end. */
export async function isHoldNamed(tx: Tx, holdId: HoldId): Promise<boolean> {
  const row = await tx.db
    .selectFrom("instances")
    .select("id")
    .where("hold_id", "=", holdId)
    .where((eb) => eb.or([eb("phase", "!=", "ended"), eb("settle_at", "is not", null)]))
    .executeTakeFirst();
  return row !== undefined;
}
