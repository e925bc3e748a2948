// Reads facts of instances for the audit and the reconciliation.
import { sql } from "kysely";
import type { InstanceId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";
import type { Phase } from "./lifecycle/rules/lifecycle.ts";
import type { RunKey } from "./counting/run-store.ts";
import type { StartEvidence } from "./evidence/start-evidence.ts";

/** Instances that are not over, or were not at that moment; all instances when `since` is undefined. */
export async function listInstancesSince(db: Reader, since: Date | undefined): Promise<readonly InstanceId[]> {
  const rows = await db
    .selectFrom("instances")
    .select("id")
    .where(sql<boolean>`ended_at is null or ended_at >= coalesce(${since ?? null}::timestamptz, '-infinity')`)
    .orderBy("id")
    .execute();
  return rows.map(({ id }) => id);
}

export type AuditedRun = {
  readonly instanceId: InstanceId;
  readonly generation: number;
  readonly runningMs: bigint;
  readonly receivedBytes: bigint;
  readonly sentBytes: bigint;
  readonly chargedRunningMs: bigint;
  readonly chargedReceivedBytes: bigint;
  readonly chargedSentBytes: bigint;
  readonly startedAt: Date;
  readonly lastCountedAt: Date;
  readonly meteredFromAt: Date | undefined;
  /** The time at which its host last reported that the run had not begun. */
  readonly notRunningAt: Date | undefined;
  /** The end of chargeable time, in ms; infinite without a request for its end, undefined for runs before that rule. */
  readonly chargeableUntilMs: number | undefined;
} & StartEvidence;

export async function listAuditedRuns(db: Reader, ids: readonly InstanceId[]): Promise<readonly AuditedRun[]> {
  const rows = await db
    .selectFrom("instance_runs")
    .select(["instance_id", "generation", "running_ms", "received_bytes", "sent_bytes", "charged_running_ms"])
    .select(["charged_received_bytes", "charged_sent_bytes", "metered_from_at", "started_at", "last_counted_at"])
    .select(["not_running_at", "needs_evidence", "evidence_at"])
    .select(sql<number | null>`extract(epoch from chargeable_until_at)::float8 * 1000`.as("chargeable_until_ms"))
    .where("instance_id", "=", sql<InstanceId>`any(${ids}::integer[])`)
    .orderBy("instance_id")
    .orderBy("generation")
    .execute();
  return rows.map((row) => ({
    instanceId: row.instance_id,
    generation: row.generation,
    runningMs: row.running_ms,
    receivedBytes: row.received_bytes,
    sentBytes: row.sent_bytes,
    chargedRunningMs: row.charged_running_ms,
    chargedReceivedBytes: row.charged_received_bytes,
    chargedSentBytes: row.charged_sent_bytes,
    startedAt: row.started_at,
    lastCountedAt: row.last_counted_at,
    meteredFromAt: row.metered_from_at ?? undefined,
    notRunningAt: row.not_running_at ?? undefined,
    needsEvidence: row.needs_evidence,
    evidenceAt: row.evidence_at ?? undefined,
    chargeableUntilMs: row.chargeable_until_ms === null ? undefined : Math.round(row.chargeable_until_ms),
  }));
}

/** Replaced terms, as they are stored. */
export type AuditedTerms = {
  readonly instanceId: InstanceId;
  readonly untilAt: Date;
  readonly generation: number;
  readonly untilRunningMs: bigint;
  readonly untilReceivedBytes: bigint;
  readonly untilSentBytes: bigint;
  readonly priceNanosPerHour: bigint;
  readonly storageNanosPerGbMonth: bigint;
  readonly inetUpNanosPerGb: bigint;
  readonly inetDownNanosPerGb: bigint;
  readonly discountPpm: number;
};

/** The replaced terms, in the order in which they were replaced. */
export async function listAuditedTerms(db: Reader, ids: readonly InstanceId[]): Promise<readonly AuditedTerms[]> {
  const rows = await db
    .selectFrom("past_terms")
    .selectAll()
    .where("instance_id", "=", sql<InstanceId>`any(${ids}::integer[])`)
    .orderBy("instance_id")
    .orderBy("id")
    .execute();
  return rows.map((row) => ({
    instanceId: row.instance_id,
    untilAt: row.until_at,
    generation: row.generation,
    untilRunningMs: row.until_running_ms,
    untilReceivedBytes: row.until_received_bytes,
    untilSentBytes: row.until_sent_bytes,
    priceNanosPerHour: row.price_nanos_per_hour,
    storageNanosPerGbMonth: row.storage_nanos_per_gb_month,
    inetUpNanosPerGb: row.inet_up_nanos_per_gb,
    inetDownNanosPerGb: row.inet_down_nanos_per_gb,
    discountPpm: row.discount_ppm,
  }));
}

export type AuditedPhase = {
  readonly instanceId: InstanceId;
  readonly at: Date;
  readonly from: Phase | undefined;
  readonly phase: Phase;
  /** The generation of the run that the change led to. */
  readonly generation: number;
  readonly cause: string;
};

/** The changes of phase of each instance, in order. */
export async function listAuditedPhases(db: Reader, ids: readonly InstanceId[]): Promise<readonly AuditedPhase[]> {
  const rows = await db
    .selectFrom("instance_events")
    .select(["instance_id", "at", "from_phase", "to_phase", "generation", "cause"])
    .where("instance_id", "=", sql<InstanceId>`any(${ids}::integer[])`)
    .orderBy("instance_id")
    .orderBy("id")
    .execute();
  return rows.map((row) => ({
    instanceId: row.instance_id,
    at: row.at,
    from: (row.from_phase ?? undefined) as Phase | undefined,
    phase: row.to_phase as Phase,
    generation: row.generation,
    cause: row.cause,
  }));
}

/** The stored counter of a run, and the time at which it was stored last. */
export type CountedRun = { readonly runningMs: number; readonly at: Date };

/** The stored counters of these runs. Runs of lost hosts are left out, because later reports of them count nothing. */
export async function listCounted(db: Reader, runs: readonly RunKey[]): Promise<ReadonlyMap<InstanceId, CountedRun>> {
  const { rows } = await sql<{ instance_id: InstanceId; running_ms: bigint; last_counted_at: Date }>`
    select run.instance_id, run.running_ms, run.last_counted_at
    from unnest(
      ${runs.map((run) => run.instanceId)}::integer[], ${runs.map((run) => run.generation)}::integer[]
    ) as wanted (instance_id, generation)
    join instance_runs run using (instance_id, generation)
    where run.sealed_at is null
  `.execute(db);
  return new Map(
    rows.map(({ instance_id: id, running_ms: ms, last_counted_at: at }) => [id, { runningMs: Number(ms), at }]),
  );
}
