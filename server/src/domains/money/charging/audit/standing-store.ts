// How far instances are charged, as the audit and the reconciliation read it.
import { sql } from "kysely";
import type { InstanceId, MachineId, UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import type { DesiredState, Phase } from "../../../rental/instances/for-charging.ts";
import { asHoldId, type HoldId } from "../../ledger/index.ts";

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
    .leftJoin("instance_tabs", "instance_tabs.instance_id", "instances.id")
    .select([
      "id",
      "instances.user_id",
      "machine_id",
      "is_background",
      "desired",
      "phase",
      "phase_since_at",
      "generation",
    ])
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

export type HoldOwner = {
  readonly id: InstanceId;
  readonly holdId: HoldId;
  readonly phase: Phase;
  /** True while usage may still be charged: an ended instance keeps its hold until it is settled. */
  readonly isOpen: boolean;
};

/** The instance that names each hold. */
export async function listHoldOwners(db: Reader): Promise<readonly HoldOwner[]> {
  const rows = await db
    .selectFrom("instance_tabs")
    .innerJoin("instances", "instances.id", "instance_tabs.instance_id")
    .select(["id", "hold_id", "phase", "settle_at"])
    .where("hold_id", "is not", null)
    .orderBy("id")
    .execute();
  return rows.flatMap(({ id, hold_id: holdId, phase, settle_at: settleAt }) =>
    holdId === null ? [] : [{ id, holdId: asHoldId(holdId), phase, isOpen: phase !== "ended" || settleAt !== null }],
  );
}

/** The state of an instance that is not over, to compare with GPU grants, holds and the reports of its host. */
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
  /** The moment at which its settlement was due, when attempts failed and postponed it. */
  readonly unsettledSinceAt: Date | undefined;
};

export async function listStands(db: Reader): Promise<ReadonlyMap<InstanceId, Stand>> {
  const rows = await db
    .selectFrom("instances")
    .leftJoin("instance_tabs", "instance_tabs.instance_id", "instances.id")
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
 * Instances that may still owe something but have no date for their settlement; of ended instances those that ended
 * since `since` and counted more than was charged. An instance without a tab never gets a date.
 */
export async function listUnscheduled(
  db: Reader,
  since: Date | undefined,
  limit: number,
): Promise<readonly InstanceId[]> {
  const { rows } = await sql<{ id: InstanceId }>`
    select i.id from instances i left join instance_tabs t on t.instance_id = i.id
    where t.settle_at is null and (t.metered_from_at is not null or t.instance_id is null) and not i.is_background and (
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

/** Ended instances whose settlement was due before a moment; failed attempts do not move that date. */
export async function listLateEnded(
  db: Reader,
  before: Date,
  limit: number,
): Promise<readonly { readonly id: InstanceId; readonly dueAt: Date }[]> {
  const { rows } = await sql<{ id: InstanceId; dueAt: Date }>`
    select i.id, coalesce(t.unsettled_since_at, t.settle_at) as "dueAt"
    from instance_tabs t join instances i on i.id = t.instance_id
    where i.ended_at is not null and t.settle_at is not null
      and coalesce(t.unsettled_since_at, t.settle_at) < ${before}::timestamptz
    order by i.id
    limit ${limit}::integer
  `.execute(db);
  return rows;
}
