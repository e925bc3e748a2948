// What an audit and the reconciliation read of instances.
import { sql } from "kysely";
import type { InstanceId, MachineId, UserId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";
import { asHoldId, type HoldId } from "../../money/ledger/index.ts";
import type { DesiredState, Phase } from "./rules/lifecycle.ts";
import type { RunKey } from "./run-store.ts";
import type { StartEvidence } from "./start-evidence.ts";

export type AuditedInstance = {
  readonly id: InstanceId;
  readonly userId: UserId;
  readonly machineId: MachineId;
  readonly isBackground: boolean;
  readonly desired: DesiredState;
  readonly phase: Phase;
  readonly phaseSinceAt: Date;
  readonly generation: number;
  readonly deviceCount: number;
  readonly diskBytes: bigint;
  readonly priceNanosPerHour: bigint;
  readonly storageNanosPerGbMonth: bigint;
  readonly inetUpNanosPerGb: bigint;
  readonly inetDownNanosPerGb: bigint;
  readonly discountPpm: number;
  readonly meteredFromAt: Date | undefined;
  readonly storageChargedUntilAt: Date | undefined;
  readonly settleAt: Date | undefined;
  readonly endedAt: Date | undefined;
};

export async function listAuditedInstances(
  db: Reader,
  ids: readonly InstanceId[],
): Promise<ReadonlyMap<InstanceId, AuditedInstance>> {
  const rows = await db
    .selectFrom("instances")
    .select(["id", "user_id", "machine_id", "is_background", "desired", "phase", "phase_since_at", "generation"])
    .select(["device_count", "disk_bytes", "price_nanos_per_hour", "storage_nanos_per_gb_month"])
    .select(["inet_up_nanos_per_gb", "inet_down_nanos_per_gb", "discount_ppm", "metered_from_at"])
    .select(["storage_charged_until_at", "settle_at", "ended_at"])
    .where("id", "=", sql<InstanceId>`any(${ids}::integer[])`)
    .orderBy("id")
    .execute();
  return new Map(
    rows.map((row) => [
      row.id,
      {
        id: row.id,
        userId: row.user_id,
        machineId: row.machine_id,
        isBackground: row.is_background,
        desired: row.desired,
        phase: row.phase,
        phaseSinceAt: row.phase_since_at,
        generation: row.generation,
        deviceCount: row.device_count,
        diskBytes: row.disk_bytes,
        priceNanosPerHour: row.price_nanos_per_hour,
        storageNanosPerGbMonth: row.storage_nanos_per_gb_month,
        inetUpNanosPerGb: row.inet_up_nanos_per_gb,
        inetDownNanosPerGb: row.inet_down_nanos_per_gb,
        discountPpm: row.discount_ppm,
        meteredFromAt: row.metered_from_at ?? undefined,
        storageChargedUntilAt: row.storage_charged_until_at ?? undefined,
        settleAt: row.settle_at ?? undefined,
        endedAt: row.ended_at ?? undefined,
      },
    ]),
  );
}

/** Instances that are not over, or were not at that moment; all that ever were when there is none. */
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
  /** When its host last said that it does not run yet. */
  readonly notRunningAt: Date | undefined;
  /** Until when it may cost anything; infinite without a request for its end, and undefined from before that rule. */
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

/** Terms that were replaced, as they are stored. */
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

/** In the order in which they were replaced. */
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
  /** Of the run that it led to. */
  readonly generation: number;
  readonly cause: string;
};

/** When each instance entered which phase, in order. */
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

export type HoldOwner = {
  readonly id: InstanceId;
  readonly holdId: HoldId;
  readonly phase: Phase;
  /** Whether something may still be charged for it: one that is over keeps its hold until that is done. */
  readonly isOpen: boolean;
};

/** Which instance each hold is named by. */
export async function listHoldOwners(db: Reader): Promise<readonly HoldOwner[]> {
  const rows = await db
    .selectFrom("instances")
    .select(["id", "hold_id", "phase", "settle_at"])
    .where("hold_id", "is not", null)
    .orderBy("id")
    .execute();
  return rows.flatMap(({ id, hold_id: holdId, phase, settle_at: settleAt }) =>
    holdId === null ? [] : [{ id, holdId: asHoldId(holdId), phase, isOpen: phase !== "ended" || settleAt !== null }],
  );
}

/** How an instance stands that is not over, for comparing it with leases, holds and what its host has. */
export type Stand = {
  readonly id: InstanceId;
  readonly machineId: MachineId;
  readonly desired: DesiredState;
  readonly phase: Phase;
  readonly phaseSinceAt: Date;
  readonly deadlineAt: Date | undefined;
  readonly deviceCount: number;
  readonly generation: number;
  readonly isBackground: boolean;
  readonly isMetered: boolean;
  readonly isReserved: boolean;
  readonly holdId: HoldId | undefined;
  readonly settleAt: Date | undefined;
  /** Since when it should have been settled, if that was tried in vain and put off. */
  readonly unsettledSinceAt: Date | undefined;
};

export async function listStands(db: Reader): Promise<ReadonlyMap<InstanceId, Stand>> {
  const rows = await db
    .selectFrom("instances")
    .select(["id", "machine_id", "desired", "phase", "phase_since_at", "deadline_at", "device_count", "generation"])
    .select(["is_background", "metered_from_at", "discount_ppm", "hold_id", "settle_at", "unsettled_since_at"])
    .where("ended_at", "is", null)
    .execute();
  return new Map(
    rows.map((row) => [
      row.id,
      {
        id: row.id,
        machineId: row.machine_id,
        desired: row.desired,
        phase: row.phase,
        phaseSinceAt: row.phase_since_at,
        deadlineAt: row.deadline_at ?? undefined,
        deviceCount: row.device_count,
        generation: row.generation,
        isBackground: row.is_background,
        isMetered: row.metered_from_at !== null,
        isReserved: row.discount_ppm > 0,
        holdId: row.hold_id === null ? undefined : asHoldId(row.hold_id),
        settleAt: row.settle_at ?? undefined,
        unsettledSinceAt: row.unsettled_since_at ?? undefined,
      },
    ]),
  );
}

/**
 * Instances of which something may still become due, and which are due at no time. Of those that are over, the ones that
 * ended since then and had counted more than was charged.
 */
export async function listUnscheduled(
  db: Reader,
  since: Date | undefined,
  limit: number,
): Promise<readonly InstanceId[]> {
  const { rows } = await sql<{ id: InstanceId }>`
    select i.id from instances i
    where i.settle_at is null and i.metered_from_at is not null and not i.is_background and (
      i.ended_at is null
      or i.ended_at >= ${since ?? null}::timestamptz and exists (
        select from instance_runs r
        where r.instance_id = i.id and r.metered_from_at is not null and (
          r.charged_running_ms < r.running_ms or r.charged_received_bytes < r.received_bytes
          or r.charged_sent_bytes < r.sent_bytes
        )
      )
    )
    order by i.id
    limit ${limit}::integer
  `.execute(db);
  return rows.map(({ id }) => id);
}

/** Rentals that are over and should have been settled before a moment, with when; attempts in vain move that no further. */
export async function listLateEnded(
  db: Reader,
  before: Date,
  limit: number,
): Promise<readonly { readonly id: InstanceId; readonly dueAt: Date }[]> {
  const { rows } = await sql<{ id: InstanceId; dueAt: Date }>`
    select id, coalesce(unsettled_since_at, settle_at) as "dueAt" from instances
    where ended_at is not null and settle_at is not null
      and coalesce(unsettled_since_at, settle_at) < ${before}::timestamptz
    order by id
    limit ${limit}::integer
  `.execute(db);
  return rows;
}

/** How much of a run is stored as counted, and when that was stored last. */
export type CountedRun = { readonly runningMs: number; readonly at: Date };

/** How long these runs have run, as it is stored. Those of lost hosts are left out: what is told of them counts no more. */
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
