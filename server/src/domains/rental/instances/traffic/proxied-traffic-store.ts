import { sql } from "kysely";
import type { InstanceId } from "../../../../base/ids.ts";
import { bigints, integers, timestamps } from "../../../../db/arrays.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { COUNTED_LATER_MS, OPENED_LATER_MS, type ProxiedRun } from "./proxied-traffic.ts";
import type { RunKey } from "../counting/run-store.ts";

/** Bytes that came out of a container through connections that opened at a moment or later. */
export type SentBytes = {
  readonly instanceId: InstanceId;
  readonly openedAt: Date;
  readonly bytes: bigint;
};

/**
 * Adds bytes to the present runs of their instances. Bytes of connections that may belong to an earlier run are left
 * out, so the sum is a lower bound.
 */
export async function addProxiedTraffic(tx: Tx, sent: readonly SentBytes[]): Promise<void> {
  if (sent.length === 0) return;
  await sql`
    insert into proxied_traffic as proxied (instance_id, generation, sent_bytes, noted_bytes, noted_at)
    select run.instance_id, run.generation, sum(sent.bytes), sum(sent.bytes), ${tx.now}::timestamptz
    from unnest(
      ${integers(sent.map((one) => one.instanceId))}::integer[],
      ${timestamps(sent.map((one) => one.openedAt.getTime()))}::timestamptz[],
      ${bigints(sent.map((one) => one.bytes))}::bigint[]
    ) as sent (instance_id, opened_at, bytes)
    join instances on instances.id = sent.instance_id and instances.ended_at is null
    join instance_runs as run on run.instance_id = instances.id and run.generation = instances.generation
    where run.sealed_at is null and sent.bytes > 0
      and sent.opened_at > run.metered_from_at + ${OPENED_LATER_MS}::integer * interval '1 millisecond'
    group by run.instance_id, run.generation
    order by run.instance_id
    on conflict (instance_id, generation) do update set
      sent_bytes = proxied.sent_bytes + excluded.sent_bytes,
      noted_bytes = case when proxied.noted_at is null
        then proxied.sent_bytes + excluded.sent_bytes else proxied.noted_bytes end,
      noted_at = coalesce(proxied.noted_at, excluded.noted_at)
  `.execute(tx.db);
}

/**
 * Locks runs whose hosts have counted well after the proxy's sums were noted; runs that another server compares are
 * skipped. Only running containers are compared: the last sample of an ended one may have come before its last bytes.
 */
export async function lockComparableRuns(tx: Tx, limit: number): Promise<readonly (ProxiedRun & RunKey)[]> {
  const { rows } = await sql<ProxiedRun & RunKey>`
    select run.instance_id as "instanceId", run.generation, instances.machine_id as "machineId",
      run.started_at as "startedAt", run.last_counted_at as "countedAt", proxied.noted_bytes as "proxiedBytes",
      run.heard_sent_bytes as "heardSentBytes"
    from proxied_traffic as proxied
    join instances on instances.id = proxied.instance_id and instances.generation = proxied.generation
    join instance_runs as run on run.instance_id = proxied.instance_id and run.generation = proxied.generation
    where instances.observed_generation = proxied.generation and instances.observed_state = 'running'
      and run.last_counted_at >= proxied.noted_at + ${COUNTED_LATER_MS}::integer * interval '1 millisecond'
    order by proxied.noted_at, proxied.instance_id
    limit ${limit}::integer
    for update of proxied skip locked
  `.execute(tx.db);
  return rows;
}

/** Notes the sums of these runs, which are compared up to the earlier note. */
export async function noteProxiedTraffic(tx: Tx, runs: readonly RunKey[]): Promise<void> {
  if (runs.length === 0) return;
  await sql`
    update proxied_traffic as proxied set
      noted_at = case when proxied.sent_bytes > proxied.noted_bytes then ${tx.now}::timestamptz end,
      noted_bytes = proxied.sent_bytes
    from unnest(
      ${integers(runs.map((run) => run.instanceId))}::integer[], ${integers(runs.map((run) => run.generation))}::integer[]
    ) as run (instance_id, generation)
    where proxied.instance_id = run.instance_id and proxied.generation = run.generation
  `.execute(tx.db);
}

/** Deletes the sums of runs that are over, and returns their number. */
export async function forgetProxiedTraffic(tx: Tx): Promise<number> {
  const { rows } = await sql`
    delete from proxied_traffic as proxied using instances
    where instances.id = proxied.instance_id
      and (instances.generation <> proxied.generation or instances.ended_at is not null)
    returning proxied.instance_id
  `.execute(tx.db);
  return rows.length;
}
