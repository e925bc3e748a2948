import { sql } from "kysely";
import type { UserId } from "../../../base/ids.ts";
import { nanos, ZERO, type Nanos } from "../../../base/money.ts";
import type { Reader } from "../../../db/transaction.ts";
import { parseCapScope, type CapScope } from "../../money/ledger/index.ts";

/** The hourly cost of a user's instances paid from credit, as long as nothing changes. Traffic is not known before. */
export type InstanceCost = {
  readonly runningNanosPerHour: Nanos;
  /** The storage of all instances that keep data, running or not. */
  readonly storageNanosPerHour: Nanos;
};

export const NO_COST: InstanceCost = { runningNanosPerHour: ZERO, storageNanosPerHour: ZERO };

/**
 * The hourly cost for each of these users who has instances. Running time that a deposit pays is left out, and so is that
 * of instances which only wait; their storage is included.
 */
export async function listInstanceCosts(
  db: Reader,
  userIds: readonly UserId[],
): Promise<ReadonlyMap<UserId, InstanceCost>> {
  if (userIds.length === 0) return new Map();
  const { rows } = await sql<{ user_id: UserId; running: string; storage: string }>`
    select i.user_id,
      coalesce(sum(i.price_nanos_per_hour) filter (
        where i.phase in ('starting', 'running', 'yielding') and i.discount_ppm = 0
      ), 0)::text as running,
      ceil(sum(i.storage_nanos_per_gb_month::numeric * i.disk_bytes / 1000000000 / 720))::text as storage
    from instances i
    where i.user_id = any(${[...new Set(userIds)]}::integer[]) and i.ended_at is null and i.phase <> 'ending'
      and not i.is_background
    group by i.user_id
  `.execute(db);
  return new Map(
    rows.map((row) => [
      row.user_id,
      { runningNanosPerHour: nanos(BigInt(row.running)), storageNanosPerHour: nanos(BigInt(row.storage)) },
    ]),
  );
}

/** The hourly cost within one scope that is paid from credit. */
export type ScopeCost = { readonly runningNanosPerHour: bigint; readonly storageNanosPerHour: bigint };

/** The hourly cost of these users' instances within each of these scopes; a scope without any is left out. */
export async function listScopeCosts(
  db: Reader,
  userIds: readonly UserId[],
  scopes: readonly CapScope[],
): Promise<ReadonlyMap<CapScope, ScopeCost>> {
  if (userIds.length === 0 || scopes.length === 0) return new Map();
  const { rows } = await sql<{ scope: string; running: string; storage: string }>`
    select own.scope,
      coalesce(sum(i.price_nanos_per_hour) filter (
        where i.phase in ('starting', 'running', 'yielding') and i.discount_ppm = 0
      ), 0)::text as running,
      ceil(sum(i.storage_nanos_per_gb_month::numeric * i.disk_bytes / 1000000000 / 720))::text as storage
    from instances i
    cross join unnest(i.cap_scopes || array['account:' || i.user_id, 'instance:' || i.id]) as own (scope)
    where i.user_id = any(${[...new Set(userIds)]}::integer[]) and i.ended_at is null and i.phase <> 'ending'
      and not i.is_background and own.scope = any(${[...new Set(scopes)]}::text[])
    group by own.scope
  `.execute(db);
  return new Map(
    rows.map((row) => [
      parseCapScope(row.scope),
      { runningNanosPerHour: BigInt(row.running), storageNanosPerHour: BigInt(row.storage) },
    ]),
  );
}
