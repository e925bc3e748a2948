import { sql } from "kysely";
import type { InstanceId, MachineId } from "../../../base/ids.ts";
import { bigints, integers, jsons, timestamps } from "../../../db/arrays.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import type { CountedRun } from "./rules/counting.ts";
import type { StartEvidence } from "./start-evidence.ts";

/** One run of an instance: what happens under one generation. */
export type RunKey = { readonly instanceId: InstanceId; readonly generation: number };

/** Makes runs that begin now. Behind a real container with a shell stands a door, which the server has to reach. */
export async function insertRuns(tx: Tx, runs: readonly RunKey[]): Promise<void> {
  if (runs.length === 0) return;
  await sql`
    insert into instance_runs (instance_id, generation, started_at, last_counted_at, started_by_clock, needs_evidence)
    select begun.instance_id, begun.generation, ${tx.now}::timestamptz, ${tx.now}::timestamptz,
      ${tx.clockId ?? null}::integer,
      machines.engine_kind <> 'simulated' and not instances.is_background
        and instances.launch #>> '{runtype,mode}' is distinct from 'args'
    from unnest(
      ${integers(runs.map((run) => run.instanceId))}::integer[], ${integers(runs.map((run) => run.generation))}::integer[]
    ) as begun (instance_id, generation)
    join instances on instances.id = begun.instance_id
    join machines on machines.id = instances.machine_id
  `.execute(tx.db);
}

/** What a run used of its machine when its host last looked. */
export type Usage = {
  readonly cpuPercent: number | undefined;
  readonly memoryBytes: number | undefined;
  readonly diskBytes: number | undefined;
  readonly gpuPercent: number | undefined;
  readonly gpuTemperatureC: number | undefined;
};

/** A run that its host speaks of, with what bounds its counters. */
export type SpokenRun = RunKey &
  CountedRun &
  StartEvidence & {
    readonly machineId: MachineId;
    /** Of its instance: the present generation, the end of the rental, and whether nothing is left of it. */
    readonly presentGeneration: number;
    readonly endAt: Date;
    readonly isInstanceOver: boolean;
    /** From here on nobody saw it; undefined while somebody does. */
    readonly closedAt: Date | undefined;
    /** After this it costs its renter nothing, whatever its host says; undefined while it is to run. */
    readonly chargeableUntilAt: Date | undefined;
    /** Up to where the runs before it are counted, and when the first after it was proven to begin: two never run at once. */
    readonly previousEndAt: Date | undefined;
    readonly nextMeteredFromAt: Date | undefined;
    /** When its host last said that it does not run yet; undefined if it never did. */
    readonly notRunningAt: Date | undefined;
    /** Whose clocks noted when it was ordered and when it did not run yet; undefined where that is not known. */
    readonly startedByClock: number | undefined;
    readonly notRunningByClock: number | undefined;
    readonly isSimulated: boolean;
    /** Whether its traffic costs anything, and how much of it is not charged yet. */
    readonly isTrafficPriced: boolean;
    readonly chargedBytes: bigint;
  };

/** The runs that these machines speak of, in the order in which they began; of what runs elsewhere they may say nothing. The caller holds their locks. */
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
      machines.engine_kind = 'simulated' as "isSimulated",
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
    join machines on machines.id = instances.machine_id
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

/** What a run has counted, and up to when it may have counted since. */
export type RunMark = Pick<CountedRun, "runningMs" | "receivedBytes" | "sentBytes" | "lastCountedAt"> & {
  readonly closedAt: Date | undefined;
};

/** Where the counters of a run are; undefined when there is no such run. The caller holds the lock of its machine. */
export async function findRunMark(tx: Tx, { instanceId, generation }: RunKey): Promise<RunMark | undefined> {
  const row = await tx.db
    .selectFrom("instance_runs")
    .select(["running_ms", "received_bytes", "sent_bytes", "last_counted_at", "sealed_at"])
    .where("instance_id", "=", instanceId)
    .where("generation", "=", generation)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    runningMs: row.running_ms,
    receivedBytes: row.received_bytes,
    sentBytes: row.sent_bytes,
    lastCountedAt: row.last_counted_at,
    closedAt: row.sealed_at ?? undefined,
  };
}

/** What is stored of a run after a report: its counters, and what it uses now. */
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
 * Notes until when somebody saw these runs, which are over, and with each all before it: what is told of the time after
 * that counts nothing. One that was over before stays as it was.
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

/** Until when a run may cost anything; undefined for as long as it runs. */
export type RunEnd = RunKey & { readonly at: Date | undefined };

/**
 * Notes until when these runs, and each before them, may cost their renters anything. An earlier end stays, unless a
 * withdrawn notice takes it back.
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
