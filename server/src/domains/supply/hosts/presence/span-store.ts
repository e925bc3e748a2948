import { sql } from "kysely";
import type { MachineId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import type { Span } from "./rules/coverage.ts";

/**
 * Notes that machines are in touch from now on. A machine that was heard within one heartbeat lease has been running
 * all the time, since its agent stops nothing earlier and its counters went on: its last span is reopened. Call it
 * before the machines are noted as seen now; it reads when they were seen before.
 */
export async function openSpans(tx: Tx, machineIds: readonly MachineId[], leaseMs: number): Promise<void> {
  if (machineIds.length === 0) return;
  const since = new Date(tx.now.getTime() - leaseMs);
  // Ends a span that the process with the connection could not close before it died.
  await sql`
    update machine_spans as span set until_at = greatest(span.from_at, machines.last_seen_at)
    from machines
    where span.machine_id = any(${machineIds}::integer[]) and span.until_at is null
      and machines.id = span.machine_id and machines.last_seen_at < ${since}::timestamptz
  `.execute(tx.db);
  await sql`
    with last as (
      select id as machine_id, (
        select from_at from machine_spans where machine_id = id
          and (until_at is null or until_at >= ${since}::timestamptz)
        order by from_at desc limit 1
      ) as from_at
      from unnest(${machineIds}::integer[]) as id
    ), reopened as (
      update machine_spans as span set until_at = null from last
      where span.machine_id = last.machine_id and span.from_at = last.from_at and span.until_at is not null
    )
    insert into machine_spans (machine_id, from_at)
    select machine_id, ${tx.now}::timestamptz from last where from_at is null
  `.execute(tx.db);
}

/** Notes that these machines are out of touch since they were last heard. */
export async function closeSpans(tx: Tx, machineIds: readonly MachineId[]): Promise<void> {
  if (machineIds.length === 0) return;
  await sql`
    update machine_spans as span set until_at = greatest(span.from_at, machines.last_seen_at)
    from machines
    where span.machine_id = any(${machineIds}::integer[]) and span.until_at is null and machines.id = span.machine_id
  `.execute(tx.db);
}

/** Spans in which a machine was in touch, and when it was last heard: its open span ends there. */
export type MachineSpans = { readonly spans: readonly Span[]; readonly lastSeenAt: Date };

/** Spans of these machines since `from`, in order; the last span before `from` may be among them. */
export async function listSpans(
  db: Reader,
  machineIds: readonly MachineId[],
  from: Date,
): Promise<ReadonlyMap<MachineId, MachineSpans>> {
  if (machineIds.length === 0) return new Map();
  const { rows } = await sql<{ id: MachineId; last_seen_at: Date; from_at: Date | null; until_at: Date | null }>`
    select machines.id, machines.last_seen_at, span.from_at, span.until_at
    from machines
    left join machine_spans as span
      on span.machine_id = machines.id and (span.until_at is null or span.until_at >= ${from}::timestamptz)
    where machines.id = any(${machineIds}::integer[])
    order by machines.id, span.from_at
  `.execute(db);
  const found = new Map<MachineId, MachineSpans>();
  for (const [id, own] of Map.groupBy(rows, (row) => row.id)) {
    const spans = own.flatMap(({ from_at: fromAt, until_at: untilAt }) =>
      fromAt === null ? [] : [{ fromAt, untilAt: untilAt ?? undefined }],
    );
    found.set(id, { spans, lastSeenAt: own[0]?.last_seen_at ?? from });
  }
  return found;
}

/** Declared speeds of machines' uplinks in Mbit/s; 0 where the machine declares none. */
export type Uplink = { readonly upMbps: number; readonly downMbps: number };

export async function listUplinks(
  db: Reader,
  machineIds: readonly MachineId[],
): Promise<ReadonlyMap<MachineId, Uplink>> {
  if (machineIds.length === 0) return new Map();
  const { rows } = await sql<{ id: MachineId } & Uplink>`
    select id, coalesce((facts ->> 'inet_up_mbps')::float8, 0) as "upMbps",
      coalesce((facts ->> 'inet_down_mbps')::float8, 0) as "downMbps"
    from machines where id = any(${machineIds}::integer[])
  `.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}
