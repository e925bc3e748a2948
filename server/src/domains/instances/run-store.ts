import { sql } from "kysely";
import type { ObservedInstance } from "../../../../protocol/index.ts";
import type { InstanceId, MachineId } from "../../base/ids.ts";
import { insertRows } from "../../db/insert-rows.ts";
import type { Reader, Tx } from "../../db/transaction.ts";
import type { GpuUse } from "../hosts/index.ts";

/** One run of an instance: what happens under one generation. */
export type RunKey = { readonly instanceId: InstanceId; readonly generation: number };

export async function insertRuns(tx: Tx, runs: readonly RunKey[]): Promise<void> {
  if (runs.length === 0) return;
  await insertRows(
    tx,
    "instance_runs",
    runs.map(({ instanceId, generation }) => ({
      instance_id: instanceId,
      generation,
      started_at: tx.now,
      last_counted_at: tx.now,
    })),
  );
}

export type Counted = {
  readonly machineId: MachineId;
  readonly seen: ObservedInstance;
  readonly gpuUse: GpuUse | undefined;
};

/** What a run used of its machine when its host last looked. */
export type Usage = {
  readonly cpuPercent: number | undefined;
  readonly memoryBytes: number | undefined;
  readonly diskBytes: number | undefined;
  readonly gpuPercent: number | undefined;
  readonly gpuTemperatureC: number | undefined;
};

/**
 * Raises what runs counted. Counters never go back, so a report that comes late or twice changes nothing; a host counts
 * only for what it was given, and never more than the time that has passed, or than was left of the rental: what runs on
 * after its end, until the host has stopped it, costs nothing.
 */
export async function raiseCounters(tx: Tx, counted: readonly Counted[]): Promise<void> {
  if (counted.length === 0) return;
  const seen = counted.map((one) => one.seen);
  const counters = seen.map((one) => one.counters);
  await sql`
    update instance_runs as run set
      running_ms = greatest(
        run.running_ms,
        least(
          seen.running_ms,
          (extract(epoch from ${tx.now}::timestamptz - run.started_at) * 1000)::bigint,
          case when instances.end_at < ${tx.now}::timestamptz then run.running_ms
            + (extract(epoch from greatest(instances.end_at - run.last_counted_at, interval '0')) * 1000)::bigint end
        )
      ),
      received_bytes = greatest(run.received_bytes, seen.received_bytes),
      sent_bytes = greatest(run.sent_bytes, seen.sent_bytes),
      first_running_at = case when seen.is_running then coalesce(run.first_running_at, ${tx.now}::timestamptz)
        else run.first_running_at end,
      usage = seen.usage,
      last_counted_at = ${tx.now}::timestamptz
    from unnest(
      ${counted.map((one) => one.machineId)}::integer[],
      ${seen.map((one) => one.instance_id)}::integer[], ${seen.map((one) => one.generation)}::integer[],
      ${counters.map((c) => c.running_ms)}::bigint[], ${counters.map((c) => c.received_bytes)}::bigint[],
      ${counters.map((c) => c.sent_bytes)}::bigint[], ${seen.map((one) => one.state === "running")}::boolean[],
      ${counted.map(usageOf)}::jsonb[]
    ) as seen (machine_id, instance_id, generation, running_ms, received_bytes, sent_bytes, is_running, usage)
    join instances on instances.id = seen.instance_id and instances.machine_id = seen.machine_id
    where run.instance_id = seen.instance_id and run.generation = seen.generation
  `.execute(tx.db);
}

function usageOf({ seen: { state, usage }, gpuUse }: Counted): string | null {
  if (state !== "running" || (usage === null && gpuUse === undefined)) return null;
  const stored: Usage = {
    cpuPercent: usage?.cpu_percent,
    memoryBytes: usage?.memory_bytes,
    diskBytes: usage?.disk_bytes,
    gpuPercent: gpuUse?.percent,
    gpuTemperatureC: gpuUse?.temperatureC,
  };
  return JSON.stringify(stored);
}

/** What these runs last used; those of which nothing is known are left out. */
export async function listUsage(db: Reader, runs: readonly RunKey[]): Promise<ReadonlyMap<InstanceId, Usage>> {
  const { rows } = await sql<{ instance_id: InstanceId; usage: Usage }>`
    select run.instance_id, run.usage
    from unnest(
      ${runs.map((run) => run.instanceId)}::integer[], ${runs.map((run) => run.generation)}::integer[]
    ) as wanted (instance_id, generation)
    join instance_runs as run using (instance_id, generation)
    where run.usage is not null
  `.execute(db);
  return new Map(rows.map((row) => [row.instance_id, row.usage]));
}

/** Runs that counted more than was charged, the longest waiting first. */
export async function listUnchargedRuns(db: Reader, limit: number): Promise<readonly RunKey[]> {
  const rows = await db
    .selectFrom("instance_runs")
    .select(["instance_id", "generation"])
    .where(sql<boolean>`charged_running_ms < running_ms`)
    .orderBy("last_counted_at")
    .limit(limit)
    .execute();
  return rows.map((row) => ({ instanceId: row.instance_id, generation: row.generation }));
}

/** The same of one instance. */
export async function listUnchargedRunsOf(db: Reader, instanceId: InstanceId): Promise<readonly RunKey[]> {
  const rows = await db
    .selectFrom("instance_runs")
    .select("generation")
    .where("instance_id", "=", instanceId)
    .where(sql<boolean>`charged_running_ms < running_ms`)
    .orderBy("generation")
    .execute();
  return rows.map(({ generation }) => ({ instanceId, generation }));
}

/** What a run has counted and not paid yet, with the best terms of that time if they changed in it. */
export type UnchargedRun = RunKey & {
  readonly runningMs: bigint;
  readonly chargedMs: bigint;
  readonly lowestNanosPerHour: bigint | undefined;
  readonly highestDiscountPpm: number;
};

/** The caller holds the lock of the machine, so that the counters stand still. */
export async function findUnchargedRun(tx: Tx, { instanceId, generation }: RunKey): Promise<UnchargedRun | undefined> {
  const row = await tx.db
    .selectFrom("instance_runs")
    .select(["running_ms", "charged_running_ms", "lowest_price_nanos_per_hour", "highest_discount_ppm"])
    .where("instance_id", "=", instanceId)
    .where("generation", "=", generation)
    .where(sql<boolean>`charged_running_ms < running_ms`)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    instanceId,
    generation,
    runningMs: row.running_ms,
    chargedMs: row.charged_running_ms,
    lowestNanosPerHour: row.lowest_price_nanos_per_hour ?? undefined,
    highestDiscountPpm: row.highest_discount_ppm ?? 0,
  };
}

/** Notes that a run is charged up to here; together with the transfer that charged it. */
export async function markCharged(tx: Tx, run: UnchargedRun): Promise<void> {
  await sql`
    update instance_runs set
      charged_running_ms = ${run.runningMs}::bigint,
      lowest_price_nanos_per_hour =
        case when last_counted_at <= price_changed_at then lowest_price_nanos_per_hour end,
      highest_discount_ppm = case when last_counted_at <= price_changed_at then highest_discount_ppm end
    where instance_id = ${run.instanceId} and generation = ${run.generation}
  `.execute(tx.db);
}

/**
 * Notes that price or discount are about to change from these. Up to the first report after the change it is not known
 * what was counted before it and what after: all of that costs the lower price, at the higher discount.
 */
export async function notePriceChange(
  tx: Tx,
  instanceId: InstanceId,
  fromNanosPerHour: bigint,
  fromDiscountPpm = 0,
): Promise<void> {
  await sql`
    update instance_runs as run set
      lowest_price_nanos_per_hour = least(run.lowest_price_nanos_per_hour, ${fromNanosPerHour}::bigint),
      highest_discount_ppm = greatest(run.highest_discount_ppm, ${fromDiscountPpm}::integer),
      price_changed_at = ${tx.now}::timestamptz
    from instances
    where instances.id = ${instanceId} and run.instance_id = instances.id
      and (run.generation = instances.generation or run.charged_running_ms < run.running_ms)
  `.execute(tx.db);
}
