import { sql } from "kysely";
import type { InstanceId, UserId } from "../../../base/ids.ts";
import { nanos, type Nanos } from "../../../base/money.ts";
import type { Reader } from "../../../db/transaction.ts";
import { isMetered } from "../../money/tabs/index.ts";
import type { CapScope } from "../../money/ledger/index.ts";

/** All instances of a user, ended ones included, whose spending counts within a scope. */
export async function listInstanceIdsOfScope(
  db: Reader,
  userId: UserId,
  scope: CapScope,
): Promise<readonly InstanceId[]> {
  const { rows } = await sql<{ id: InstanceId }>`
    select i.id
    from instances i
    where i.user_id = ${userId}::integer
      and (${scope}::text = any (i.cap_scopes) or ${scope}::text = 'instance:' || i.id or ${scope}::text = 'account:' || i.user_id)
    order by i.id
  `.execute(db);
  return rows.map((row) => row.id);
}

/** An instance whose data costs something; one at rest has no container that may run. */
export type StoredInstance = { readonly id: InstanceId; readonly nanosPerHour: Nanos; readonly isAtRest: boolean };

/** A user's instances whose storage is charged and counts within a scope, in id order. */
export async function listStoredInstances(
  db: Reader,
  userId: UserId,
  scope: CapScope,
): Promise<readonly StoredInstance[]> {
  const { rows } = await sql<{ id: InstanceId; storage: string; is_at_rest: boolean }>`
    select i.id, ceil(i.storage_nanos_per_gb_month::numeric * i.disk_bytes / 1000000000 / 720)::text as storage,
      i.phase in ('scheduled', 'stopped') as is_at_rest
    from instances i
    where i.user_id = ${userId}::integer and i.ended_at is null and i.phase <> 'ending' and not i.is_background
      and ${isMetered(sql`i.id`)} and i.storage_nanos_per_gb_month > 0
      and (${scope}::text = any (i.cap_scopes) or ${scope}::text = 'instance:' || i.id or ${scope}::text = 'account:' || i.user_id)
    order by i.id
  `.execute(db);
  return rows.map((row) => ({ id: row.id, nanosPerHour: nanos(BigInt(row.storage)), isAtRest: row.is_at_rest }));
}
