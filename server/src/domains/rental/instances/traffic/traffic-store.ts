import { sql } from "kysely";
import type { InstanceId, UserId } from "../../../../base/ids.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import { bigints, integers, timestamps } from "../../../../db/arrays.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import type { TrafficRules, TrafficState } from "./rules/traffic-budget.ts";

export async function readTrafficRules(db: Reader): Promise<TrafficRules> {
  const row = await db
    .selectFrom("price_rules")
    .select(["traffic_base_nanos", "traffic_share_permille"])
    .executeTakeFirstOrThrow();
  return { baseNanos: row.traffic_base_nanos, sharePermille: row.traffic_share_permille };
}

/** Stores the budget settings that this server was started with, for all servers of the database. */
export async function setTrafficRules(tx: Tx, { baseNanos, sharePermille }: TrafficRules): Promise<void> {
  await tx.db
    .updateTable("price_rules")
    .set({ traffic_base_nanos: baseNanos, traffic_share_permille: sharePermille })
    .execute();
}

/** The limits that accounts give their new instances; accounts without one are left out. */
export async function listAccountTrafficLimits(
  db: Reader,
  userIds: readonly UserId[],
): Promise<ReadonlyMap<UserId, Nanos>> {
  const { rows } = await sql<{ id: UserId; limit: bigint }>`
    select id, traffic_limit_nanos as limit from users
    where id = any(${[...new Set(userIds)]}::integer[]) and traffic_limit_nanos is not null
  `.execute(db);
  return new Map(rows.map(({ id, limit }) => [id, nanos(limit)]));
}

/** The traffic costs and limit of instances, and their running time. */
export type TrafficAccount = TrafficState & { readonly id: InstanceId; readonly ranMs: bigint };

/** Reads the traffic accounts. The caller holds the locks of these instances. */
export async function listTrafficAccounts(db: Reader, ids: readonly InstanceId[]): Promise<readonly TrafficAccount[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<{
    id: InstanceId;
    limit_nanos: bigint | null;
    spent_nanos: bigint;
    left_nanos: bigint | null;
    left_at_ms: bigint;
    ran_ms: bigint;
  }>`
    select id, traffic_limit_nanos as limit_nanos, traffic_spent_nanos as spent_nanos, traffic_left_nanos as left_nanos,
      traffic_left_at_ms as left_at_ms, (
        select coalesce(sum(running_ms), 0)::bigint from instance_runs where instance_id = instances.id
      ) as ran_ms
    from instances where id = any(${integers(ids)}::integer[])
  `.execute(db);
  return rows.map((row) => ({
    id: row.id,
    limitNanos: row.limit_nanos ?? undefined,
    spentNanos: row.spent_nanos,
    leftNanos: row.left_nanos ?? undefined,
    leftAtMs: row.left_at_ms,
    ranMs: row.ran_ms,
  }));
}

export type TrafficUse = {
  readonly id: InstanceId;
  readonly paidNanos: bigint;
  readonly leftNanos: bigint;
  readonly ranMs: bigint;
  /** True when more was used than may be charged. */
  readonly isReached: boolean;
};

/** Notes the traffic costs charged now, and the rest of the limits. The caller holds the locks of the instances. */
export async function noteTraffic(tx: Tx, uses: readonly TrafficUse[]): Promise<void> {
  if (uses.length === 0) return;
  await sql`
    update instances set
      traffic_spent_nanos = traffic_spent_nanos + used.paid,
      traffic_left_nanos = case when traffic_limit_nanos is null then used.remaining else traffic_left_nanos end,
      traffic_left_at_ms = case when traffic_limit_nanos is null then used.ran_ms else traffic_left_at_ms end,
      traffic_reached_at = coalesce(traffic_reached_at, used.reached_at)
    from unnest(
      ${integers(uses.map(({ id }) => id))}::integer[], ${bigints(uses.map(({ paidNanos }) => paidNanos))}::bigint[],
      ${bigints(uses.map(({ leftNanos }) => leftNanos))}::bigint[], ${bigints(uses.map(({ ranMs }) => ranMs))}::bigint[],
      ${timestamps(uses.map(({ isReached }) => (isReached ? tx.now.getTime() : undefined)))}::timestamptz[]
    ) as used (id, paid, remaining, ran_ms, reached_at)
    where instances.id = used.id
  `.execute(tx.db);
}

/**
 * Sets the traffic limit of an instance, or its rest of the budget; the instance may run again. The caller holds its
 * lock.
 */
export async function storeTrafficLimit(
  tx: Tx,
  id: InstanceId,
  { limitNanos, leftNanos, leftAtMs }: Pick<TrafficState, "limitNanos" | "leftNanos" | "leftAtMs">,
): Promise<void> {
  await tx.db
    .updateTable("instances")
    .set({
      traffic_limit_nanos: limitNanos ?? null,
      traffic_left_nanos: leftNanos ?? null,
      traffic_left_at_ms: leftAtMs,
      traffic_reached_at: null,
    })
    .where("id", "=", id)
    .execute();
}

/** The traffic costs that count against instances' limits, and those of their charge lines; for an audit. */
export async function listAuditedTraffic(
  db: Reader,
  ids: readonly InstanceId[],
): Promise<readonly { readonly id: InstanceId; readonly spentNanos: bigint; readonly chargedNanos: bigint }[]> {
  const { rows } = await sql<{ id: InstanceId; spentNanos: bigint; chargedNanos: bigint }>`
    select id, traffic_spent_nanos as "spentNanos", (
      select coalesce(sum(amount_nanos), 0)::bigint from charge_lines
      where instance_id = instances.id and component in ('bwu', 'bwd')
    ) as "chargedNanos"
    from instances where id = any(${[...ids]}::integer[]) order by id
  `.execute(db);
  return rows;
}
