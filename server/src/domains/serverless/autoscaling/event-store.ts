import { sql } from "kysely";
import type { EndpointGroupId, InstanceId, WorkerGroupId } from "../../../base/ids.ts";
import { insertRows } from "../../../db/insert-rows.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";

/** Streams of the published logs: 0 important, 1 orders, 2 observations, 3 everything. */
export type EventLevel = 0 | 1 | 2 | 3;

export type NewEndpointEvent = {
  readonly endpointGroupId: EndpointGroupId;
  readonly workerGroupId?: WorkerGroupId | undefined;
  readonly instanceId?: InstanceId | undefined;
  readonly kind: "decision" | "worker" | "change";
  readonly level: EventLevel;
  /** One sentence in plain words. */
  readonly sentence: string;
  /** The `reason`, `targets` and `actions` of a decision. */
  readonly detail?: Readonly<Record<string, unknown>> | undefined;
};

export type EndpointEvent = {
  readonly id: number;
  readonly endpointGroupId: EndpointGroupId;
  readonly workerGroupId: WorkerGroupId | undefined;
  readonly instanceId: InstanceId | undefined;
  readonly at: Date;
  readonly kind: NewEndpointEvent["kind"];
  readonly level: EventLevel;
  readonly sentence: string;
  readonly detail: Readonly<Record<string, unknown>>;
};

/** Stores events with the present time, in this order. */
export async function recordEvents(tx: Tx, events: readonly NewEndpointEvent[]): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map((event) => ({
    endpoint_group_id: event.endpointGroupId,
    worker_group_id: event.workerGroupId ?? null,
    instance_id: event.instanceId ?? null,
    at: tx.now,
    kind: event.kind,
    level: event.level,
    // Sentences may quote texts of workers, which may hold characters that PostgreSQL refuses.
    sentence: event.sentence.replaceAll("\0", "").toWellFormed(),
    detail: event.detail ?? {},
  }));
  await insertRows(tx, "endpoint_events", rows);
}

export type EventQuery = {
  /** Events of this level and of the more important ones. */
  readonly level: EventLevel;
  readonly limit: number;
  /** Only events before this one; undefined: from the newest on. */
  readonly before: number | undefined;
  /** Only events of this worker group. */
  readonly workerGroupId?: WorkerGroupId;
};

/** Events of an endpoint group, newest first. */
export async function listEvents(
  db: Reader,
  endpointGroupId: EndpointGroupId,
  { level, limit, before, workerGroupId }: EventQuery,
): Promise<readonly EndpointEvent[]> {
  let query = db
    .selectFrom("endpoint_events")
    .selectAll()
    .where("endpoint_group_id", "=", endpointGroupId)
    .where("level", "<=", level);
  if (before !== undefined) query = query.where("id", "<", sql<bigint>`${before}::bigint`);
  if (workerGroupId !== undefined) query = query.where("worker_group_id", "=", workerGroupId);
  const rows = await query.orderBy("id", "desc").limit(limit).execute();
  return rows.map((row) => ({
    id: Number(row.id),
    endpointGroupId: row.endpoint_group_id,
    workerGroupId: row.worker_group_id ?? undefined,
    instanceId: row.instance_id ?? undefined,
    at: row.at,
    kind: row.kind,
    level: row.level as EventLevel,
    sentence: row.sentence,
    detail: row.detail as EndpointEvent["detail"],
  }));
}

/** The reason of the last decision that was stored; undefined before the first. */
export async function findLastReason(db: Reader, endpointGroupId: EndpointGroupId): Promise<string | undefined> {
  const row = await db
    .selectFrom("endpoint_events")
    .select(sql<string | null>`detail ->> 'reason'`.as("reason"))
    .where("endpoint_group_id", "=", endpointGroupId)
    .where("kind", "=", "decision")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.reason ?? undefined;
}

/** Deletes events from before then; returns how many. */
export async function deleteEventsBefore(tx: Tx, before: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from endpoint_events
    where id in (select id from endpoint_events where at < ${before}::timestamptz order by id limit ${limit})
  `.execute(tx.db);
  return Number(numAffectedRows ?? 0);
}
