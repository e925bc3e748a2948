import { sql } from "kysely";
import type { InstanceId } from "../../../../base/ids.ts";
import { bigints, integers, timestamps } from "../../../../db/arrays.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import type { TrafficState } from "./rules/traffic-budget.ts";

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

/** The traffic costs that count against the limits of these instances, in the order of their ids; for an audit. */
export async function listSpentTraffic(
  db: Reader,
  ids: readonly InstanceId[],
): Promise<readonly { readonly id: InstanceId; readonly spentNanos: bigint }[]> {
  const rows = await db
    .selectFrom("instances")
    .select(["id", "traffic_spent_nanos as spentNanos"])
    .where("id", "=", sql<InstanceId>`any(${[...ids]}::integer[])`)
    .orderBy("id")
    .execute();
  return rows;
}
