import { sql } from "kysely";
import type { EndpointGroupId } from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import type { Fleet } from "./rules/fleet.ts";

/** Stores the workers of an endpoint as they are now. */
export async function insertFleet(tx: Tx, endpointGroupId: EndpointGroupId, fleet: Fleet): Promise<void> {
  await tx.db
    .insertInto("endpoint_fleets")
    .values({
      endpoint_group_id: endpointGroupId,
      at: tx.now,
      ready_count: fleet.ready,
      starting_count: fleet.starting,
      stopping_count: fleet.stopping,
      stopped_count: fleet.stopped,
      failed_count: fleet.failed,
      ready_perf: fleet.readyPerf,
      starting_perf: fleet.startingPerf,
      stopped_perf: fleet.stoppedPerf,
      queued_count: fleet.queued,
      nanos_per_hour: fleet.nanosPerHour,
    })
    .onConflict((oc) => oc.doNothing())
    .execute();
}

export type Span = { readonly from: Date; readonly until: Date; readonly stepS: number };

/** The fleet at the end of a step, and the longest queue that was stored within it. */
export type FleetStep = Fleet & { readonly atS: number; readonly longestQueue: number };

/** The last fleet of each step that has one, and the last before the span, by time. */
export async function listFleets(
  db: Reader,
  endpointGroupId: EndpointGroupId,
  { from, until, stepS }: Span,
): Promise<readonly FleetStep[]> {
  const { rows } = await sql<FleetStep & { readonly nanos: string }>`
    with known as (
      select *, floor(extract(epoch from at) / ${stepS}::integer) * ${stepS}::integer as step
      from endpoint_fleets
      where endpoint_group_id = ${endpointGroupId} and at < ${until}::timestamptz and at >= coalesce((
        select max(at) from endpoint_fleets where endpoint_group_id = ${endpointGroupId} and at < ${from}::timestamptz
      ), ${from}::timestamptz)
    )
    select distinct on (step) step::double precision as "atS", ready_count as ready, starting_count as starting,
      stopping_count as stopping, stopped_count as stopped, failed_count as failed, ready_perf as "readyPerf",
      starting_perf as "startingPerf", stopped_perf as "stoppedPerf",
      queued_count as queued, max(queued_count) over (partition by step) as "longestQueue", nanos_per_hour::text as nanos
    from known order by step, at desc
  `.execute(db);
  return rows.map(({ nanos, ...row }) => ({ ...row, nanosPerHour: BigInt(nanos) }));
}

export type StoredDecision = { readonly at: Date; readonly sentence: string; readonly reason: string | null };

/** The newest decisions within a span, by time. */
export async function listDecisions(
  db: Reader,
  endpointGroupId: EndpointGroupId,
  { from, until }: Pick<Span, "from" | "until">,
  limit: number,
): Promise<readonly StoredDecision[]> {
  const rows = await db
    .selectFrom("endpoint_events")
    .select(["at", "sentence", sql<string | null>`detail ->> 'reason'`.as("reason")])
    .where("endpoint_group_id", "=", endpointGroupId)
    .where("kind", "=", "decision")
    .where("at", ">=", from)
    .where("at", "<", until)
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.toReversed();
}

/** Deletes fleets from before then; returns how many. */
export async function deleteFleetsBefore(tx: Tx, before: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from endpoint_fleets
    where ctid in (select ctid from endpoint_fleets where at < ${before}::timestamptz limit ${limit})
  `.execute(tx.db);
  return Number(numAffectedRows ?? 0);
}
