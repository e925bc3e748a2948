import { sql } from "kysely";
import type { InstanceId } from "../../../base/ids.ts";
import type { Tx } from "../../../db/transaction.ts";

/** A run that was proven for the first time, and the time of the proof. */
export type FirstProof = { readonly instanceId: InstanceId; readonly at: Date };

/** Begins the metering of these instances at their first proven running time, and of each run at its own. */
export async function startMetering(tx: Tx, proven: readonly FirstProof[]): Promise<void> {
  if (proven.length === 0) return;
  await sql`
    update instances set
      metered_from_at = coalesce(instances.metered_from_at, proven.at),
      storage_charged_until_at = coalesce(instances.storage_charged_until_at, proven.at),
      settle_at = case when instances.is_background then instances.settle_at
        else least(instances.settle_at, ${tx.now}::timestamptz) end
    from (
      select instance_id, min(at) as at
      from unnest(
        ${proven.map((one) => one.instanceId)}::integer[], ${proven.map((one) => one.at)}::timestamptz[]
      ) as each (instance_id, at)
      group by instance_id
    ) as proven
    where instances.id = proven.instance_id
  `.execute(tx.db);
}

/** Makes instances due to be settled now, if they have cost anything, have a hold, or are due anyway. */
export async function makeDue(tx: Tx, ids: readonly InstanceId[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    update instances set settle_at = ${tx.now}::timestamptz
    where id = any(${[...ids]}::integer[]) and not is_background
      and (metered_from_at is not null or hold_id is not null or settle_at is not null)
  `.execute(tx.db);
}
