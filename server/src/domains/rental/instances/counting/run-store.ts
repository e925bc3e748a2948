import { sql } from "kysely";
import type { InstanceId, MachineId } from "../../../../base/ids.ts";
import { bigints, integers, jsons, timestamps } from "../../../../db/arrays.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { isSimulated } from "../../../supply/hosts/for-instances.ts";
import type { CountedRun } from "../rules/counting.ts";
import type { StartEvidence } from "../evidence/start-evidence.ts";

/** One run of an instance: what happens under one generation. */
export type RunKey = { readonly instanceId: InstanceId; readonly generation: number };

/**
 * Inserts runs that begin now. A run in a real container, in any mode but `args`, needs evidence of its start: agents of
 * all versions open a door there.
 */
export async function insertRuns(tx: Tx, runs: readonly RunKey[]): Promise<void> {
  if (runs.length === 0) return;
  await sql`
    insert into instance_runs (instance_id, generation, started_at, last_counted_at, started_by_clock, needs_evidence)
    select begun.instance_id, begun.generation, ${tx.now}::timestamptz, ${tx.now}::timestamptz,
      ${tx.clockId ?? null}::integer,
      not ${isSimulated(sql`instances.machine_id`)} and not instances.is_background
        and instances.launch #>> '{runtype,mode}' is distinct from 'args'
    from unnest(
      ${integers(runs.map((run) => run.instanceId))}::integer[], ${integers(runs.map((run) => run.generation))}::integer[]
    ) as begun (instance_id, generation)
    join instances on instances.id = begun.instance_id
  `.execute(tx.db);
}

/** A run's use of its machine in the host's last sample. */
export type Usage = {
  readonly cpuPercent: number | undefined;
  readonly memoryBytes: number | undefined;
  readonly diskBytes: number | undefined;
  readonly gpuPercent: number | undefined;
  readonly gpuTemperatureC: number | undefined;
  readonly gpuMemoryMb?: number | undefined;
  /** Its own address in the network of its machine. */
  readonly ipAddress?: string | undefined;
};

/** A reported run, with the bounds of its counters. */
export type SpokenRun = RunKey &
  CountedRun &
  StartEvidence & {
    readonly machineId: MachineId;
    /** Facts of its instance: the present generation, the end of the rental, and whether it has ended. */
    readonly presentGeneration: number;
    readonly endAt: Date;
    readonly isInstanceOver: boolean;
    /** The end of its observed time, when it is closed; undefined for a run that is not closed. */
    readonly closedAt: Date | undefined;
    /** The end of its chargeable time, for any report of its host; undefined while it is to run. */
    readonly chargeableUntilAt: Date | undefined;
    /** The counted end of the previous runs, and the proven beginning of the next one: two never run at once. */
    readonly previousEndAt: Date | undefined;
    readonly nextMeteredFromAt: Date | undefined;
    /** The time at which its host last reported that it does not run yet; undefined if it never did. */
    readonly notRunningAt: Date | undefined;
    /** The clocks that noted its order and that it did not run yet; undefined when unknown. */
    readonly startedByClock: number | undefined;
    readonly notRunningByClock: number | undefined;
    readonly isSimulated: boolean;
    /** True when its traffic costs anything. */
    readonly isTrafficPriced: boolean;
    /** Bytes received and sent that are charged already. */
    readonly chargedBytes: bigint;
  };

/**
 * The reported runs on these machines, in the order in which they began; a machine may not report on runs elsewhere.
 * The caller holds their locks.
 */
export async function listSpokenRuns(
  tx: Tx,
  spoken: readonly { readonly machineId: MachineId; readonly instanceId: number; readonly generation: number }[],
): Promise<readonly SpokenRun[]> {
  const { rows } = await sql<SpokenRun>`
    select run.instance_id as "instanceId", run.generation, instances.machine_id as "machineId",
      run.started_at as "startedAt", run.last_counted_at as "lastCountedAt", run.metered_from_at as "meteredFromAt",
      run.running_ms as "runningMs", run.received_bytes as "receivedBytes", run.sent_bytes as "sentBytes",
      run.heard_running_ms as "heardRunningMs", run.heard_received_bytes as "heardReceivedBytes",
      run.heard_sent_bytes as "heardSentBytes", run.spare_ms as "spareMs", run.spare_traffic_ms as "spareTrafficMs", run.sealed_at as "closedAt",
      nullif(run.chargeable_until_at, 'infinity') as "chargeableUntilAt",
      run.charged_received_bytes + run.charged_sent_bytes as "chargedBytes",
      instances.generation as "presentGeneration", instances.end_at as "endAt",
      instances.ended_at is not null as "isInstanceOver",
      run.not_running_at as "notRunningAt", run.started_by_clock as "startedByClock",
      run.not_running_by_clock as "notRunningByClock", run.needs_evidence as "needsEvidence", run.evidence_at as "evidenceAt",
      ${isSimulated(sql`instances.machine_id`)} as "isSimulated",
      instances.inet_up_nanos_per_gb + instances.inet_down_nanos_per_gb > 0 as "isTrafficPriced",
      case when run.metered_from_at is null then (
        select max(previous.metered_from_at + previous.running_ms * interval '1 millisecond')
        from instance_runs as previous
        where previous.instance_id = run.instance_id and previous.generation < run.generation
      ) end as "previousEndAt",
      (
        select min(next.metered_from_at) from instance_runs as next
        where next.instance_id = run.instance_id and next.generation > run.generation
      ) as "nextMeteredFromAt"
    from unnest(
      ${spoken.map((one) => one.machineId)}::integer[], ${spoken.map((one) => one.instanceId)}::integer[],
      ${spoken.map((one) => one.generation)}::integer[]
    ) as spoken (machine_id, instance_id, generation)
    join instances on instances.id = spoken.instance_id and instances.machine_id = spoken.machine_id
    join instance_runs as run on run.instance_id = spoken.instance_id and run.generation = spoken.generation
    order by run.instance_id, run.generation
  `.execute(tx.db);
  return rows.map((row) => ({
    ...row,
    meteredFromAt: row.meteredFromAt ?? undefined,
    closedAt: row.closedAt ?? undefined,
    chargeableUntilAt: row.chargeableUntilAt ?? undefined,
    notRunningAt: row.notRunningAt ?? undefined,
    startedByClock: row.startedByClock ?? undefined,
    notRunningByClock: row.notRunningByClock ?? undefined,
    evidenceAt: row.evidenceAt ?? undefined,
    previousEndAt: row.previousEndAt ?? undefined,
    nextMeteredFromAt: row.nextMeteredFromAt ?? undefined,
  }));
}

/** The counters of a run, and the time up to which it may have counted since. */
export type RunMark = Pick<
  CountedRun,
  "runningMs" | "receivedBytes" | "sentBytes" | "lastCountedAt" | "meteredFromAt" | "spareMs"
> & {
  readonly closedAt: Date | undefined;
};

/** The counters of a run; undefined when there is no such run. The caller holds the lock of its machine. */
export async function findRunMark(tx: Tx, { instanceId, generation }: RunKey): Promise<RunMark | undefined> {
  const row = await tx.db
    .selectFrom("instance_runs")
    .select([
      "running_ms",
      "received_bytes",
      "sent_bytes",
      "last_counted_at",
      "metered_from_at",
      "spare_ms",
      "sealed_at",
    ])
    .where("instance_id", "=", instanceId)
    .where("generation", "=", generation)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    runningMs: row.running_ms,
    receivedBytes: row.received_bytes,
    sentBytes: row.sent_bytes,
    lastCountedAt: row.last_counted_at,
    meteredFromAt: row.metered_from_at ?? undefined,
    spareMs: row.spare_ms,
    closedAt: row.sealed_at ?? undefined,
  };
}

/** The stored facts of a run after a report: its counters, and its present use. */
export type RaisedRun = RunKey & CountedRun & { readonly usage: Usage | undefined };

export async function storeCounters(tx: Tx, runs: readonly RaisedRun[]): Promise<void> {
  if (runs.length === 0) return;
  const counts = (pick: (run: RaisedRun) => bigint) => bigints(runs.map(pick));
  await sql`
    update instance_runs as run set
      running_ms = raised.running_ms, received_bytes = raised.received_bytes, sent_bytes = raised.sent_bytes,
      heard_running_ms = raised.heard_running_ms, heard_received_bytes = raised.heard_received_bytes,
      heard_sent_bytes = raised.heard_sent_bytes, spare_ms = raised.spare_ms,
      spare_traffic_ms = raised.spare_traffic_ms,
      metered_from_at = raised.metered_from_at, usage = raised.usage, last_counted_at = raised.last_counted_at
    from unnest(
      ${integers(runs.map((run) => run.instanceId))}::integer[], ${integers(runs.map((run) => run.generation))}::integer[],
      ${counts((run) => run.runningMs)}::bigint[], ${counts((run) => run.receivedBytes)}::bigint[],
      ${counts((run) => run.sentBytes)}::bigint[], ${counts((run) => run.heardRunningMs)}::bigint[],
      ${counts((run) => run.heardReceivedBytes)}::bigint[], ${counts((run) => run.heardSentBytes)}::bigint[],
      ${counts((run) => run.spareMs)}::bigint[], ${counts((run) => run.spareTrafficMs)}::bigint[],
      ${timestamps(runs.map((run) => run.meteredFromAt?.getTime()))}::timestamptz[],
      ${jsons(runs.map(({ usage }) => (usage === undefined ? null : JSON.stringify(usage))))}::jsonb[],
      ${timestamps(runs.map((run) => run.lastCountedAt.getTime()))}::timestamptz[]
    ) as raised (instance_id, generation, running_ms, received_bytes, sent_bytes, heard_running_ms,
      heard_received_bytes, heard_sent_bytes, spare_ms, spare_traffic_ms, metered_from_at, usage, last_counted_at)
    where run.instance_id = raised.instance_id and run.generation = raised.generation
  `.execute(tx.db);
}

/**
 * Notes the end of the observed time of these ended runs, and of all runs before each: later reports count nothing. A
 * run that was closed before stays as it was.
 */
export async function closeRuns(tx: Tx, runs: readonly (RunKey & { readonly at: Date })[]): Promise<void> {
  if (runs.length === 0) return;
  await sql`
    update instance_runs as run set sealed_at = over.at, spare_ms = 0, spare_traffic_ms = 0
    from unnest(
      ${runs.map((run) => run.instanceId)}::integer[], ${runs.map((run) => run.generation)}::integer[],
      ${runs.map((run) => run.at)}::timestamptz[]
    ) as over (instance_id, generation, at)
    where run.instance_id = over.instance_id and run.generation <= over.generation
      and (run.sealed_at is null or run.sealed_at > over.at)
  `.execute(tx.db);
}

/** The end of a run's chargeable time; undefined for as long as it runs. */
export type RunEnd = RunKey & { readonly at: Date | undefined };

/**
 * Notes the end of the chargeable time of these runs, and of each before them. An earlier end stays, unless a withdrawn
 * eviction notice takes it back.
 */
export async function setChargeEnds(tx: Tx, runs: readonly RunEnd[]): Promise<void> {
  if (runs.length === 0) return;
  await sql`
    update instance_runs as run set chargeable_until_at =
      case when ends.at is null then 'infinity' else least(run.chargeable_until_at, ends.at) end
    from unnest(
      ${integers(runs.map((run) => run.instanceId))}::integer[], ${integers(runs.map((run) => run.generation))}::integer[],
      ${timestamps(runs.map((run) => run.at?.getTime()))}::timestamptz[]
    ) as ends (instance_id, generation, at)
    where run.instance_id = ends.instance_id
      and (run.generation = ends.generation or (run.generation < ends.generation and ends.at is not null))
      and (ends.at is null or run.chargeable_until_at is null or run.chargeable_until_at > ends.at)
  `.execute(tx.db);
}

/** Times of an instance's runs, and the last use of the present one. */
export type RunRecord = {
  /** The beginning of the present run; undefined until its host has reported that it runs. */
  readonly meteredFromAt: Date | undefined;
  readonly usage: Usage | undefined;
  /** Running time of all runs, as counted. */
  readonly countedMs: bigint;
  /** Running time of all runs, as the host reported it. */
  readonly heardMs: bigint;
};

/** The records of these present runs, each with the sums over all runs of its instance. */
export async function listRunRecords(db: Reader, runs: readonly RunKey[]): Promise<ReadonlyMap<InstanceId, RunRecord>> {
  const { rows } = await sql<{
    readonly instance_id: InstanceId;
    readonly metered_from_at: Date | null;
    readonly usage: Usage | null;
    readonly counted_ms: bigint;
    readonly heard_ms: bigint;
  }>`
    select wanted.instance_id, present.metered_from_at, present.usage, times.counted_ms, times.heard_ms
    from unnest(
      ${integers(runs.map((run) => run.instanceId))}::integer[], ${integers(runs.map((run) => run.generation))}::integer[]
    ) as wanted (instance_id, generation)
    left join instance_runs as present using (instance_id, generation)
    cross join lateral (
      select coalesce(sum(run.running_ms), 0)::bigint as counted_ms,
        coalesce(sum(run.heard_running_ms), 0)::bigint as heard_ms
      from instance_runs as run where run.instance_id = wanted.instance_id
    ) as times
  `.execute(db);
  return new Map(
    rows.map((row) => [
      row.instance_id,
      {
        meteredFromAt: row.metered_from_at ?? undefined,
        usage: row.usage ?? undefined,
        countedMs: row.counted_ms,
        heardMs: row.heard_ms,
      },
    ]),
  );
}
