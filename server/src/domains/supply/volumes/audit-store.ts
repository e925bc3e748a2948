// Volume rows for the audit of the books.
import { sql } from "kysely";
import type { MachineId, UserId, VolumeId } from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";

export type AuditedVolume = {
  readonly id: VolumeId;
  readonly userId: UserId;
  /** The machine of a local volume; undefined for one on a network disk. */
  readonly machineId: MachineId | undefined;
  readonly sizeBytes: bigint;
  readonly priceNanosPerGbMonth: bigint;
  readonly meteredFromAt: Date | undefined;
  readonly storageChargedUntilAt: Date | undefined;
  readonly settleAt: Date | undefined;
  readonly deletingAt: Date | undefined;
  readonly deletedAt: Date | undefined;
};

export async function listAuditedVolumes(
  db: Reader,
  ids: readonly VolumeId[],
): Promise<ReadonlyMap<VolumeId, AuditedVolume>> {
  const rows = await db
    .selectFrom("volumes")
    .select(["id", "user_id", "machine_id", "size_bytes", "price_nanos_per_gb_month", "metered_from_at"])
    .select(["storage_charged_until_at", "settle_at", "deleting_at", "deleted_at"])
    .where("id", "=", sql<VolumeId>`any(${ids}::integer[])`)
    .orderBy("id")
    .execute();
  return new Map(
    rows.map((row) => [
      row.id,
      {
        id: row.id,
        userId: row.user_id,
        machineId: row.machine_id ?? undefined,
        sizeBytes: row.size_bytes,
        priceNanosPerGbMonth: row.price_nanos_per_gb_month,
        meteredFromAt: row.metered_from_at ?? undefined,
        storageChargedUntilAt: row.storage_charged_until_at ?? undefined,
        settleAt: row.settle_at ?? undefined,
        deletingAt: row.deleting_at ?? undefined,
        deletedAt: row.deleted_at ?? undefined,
      },
    ]),
  );
}

/** Volumes that are not deleted, or were not at `since`; without `since` all that ever existed. */
export async function listVolumesSince(db: Reader, since: Date | undefined): Promise<readonly VolumeId[]> {
  const rows = await db
    .selectFrom("volumes")
    .select("id")
    .where(sql<boolean>`deleted_at is null or deleted_at >= coalesce(${since ?? null}::timestamptz, '-infinity')`)
    .orderBy("id")
    .execute();
  return rows.map(({ id }) => id);
}

/** Volumes that cost something but have no time of their next settlement. */
export async function listUnscheduledVolumes(db: Reader, limit: number): Promise<readonly VolumeId[]> {
  const rows = await db
    .selectFrom("volumes")
    .select("id")
    .where("settle_at", "is", null)
    .where("metered_from_at", "is not", null)
    .where("price_nanos_per_gb_month", ">", 0n)
    .where("deleting_at", "is", null)
    .where("deleted_at", "is", null)
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Volumes that should have been settled before this time, with their due time; failed attempts do not move it. */
export async function listLateVolumes(
  db: Reader,
  before: Date,
  limit: number,
): Promise<readonly { readonly id: VolumeId; readonly dueAt: Date }[]> {
  const { rows } = await sql<{ id: VolumeId; dueAt: Date }>`
    select id, coalesce(unsettled_since_at, settle_at) as "dueAt" from volumes
    where settle_at is not null and storage_charged_until_at is not null
      and coalesce(unsettled_since_at, settle_at) < ${before}::timestamptz
    order by id
    limit ${limit}::integer
  `.execute(db);
  return rows;
}

/**
 * Schedules the settlement of a volume that costs something and has no due time; false when there is none to schedule.
 */
export async function scheduleVolumeSettlement(tx: Tx, id: VolumeId): Promise<boolean> {
  const result = await sql`
    update volumes set settle_at = ${tx.now}::timestamptz
    where id = ${id} and settle_at is null and metered_from_at is not null and deleting_at is null
      and price_nanos_per_gb_month > 0
  `.execute(tx.db);
  return result.numAffectedRows === 1n;
}

/**
 * Machines of all volumes that are not deleted; undefined for those on network disks, which several machines may reach.
 */
export async function listVolumePlaces(db: Reader): Promise<ReadonlyMap<VolumeId, MachineId | undefined>> {
  const rows = await db.selectFrom("volumes").select(["id", "machine_id"]).where("deleted_at", "is", null).execute();
  return new Map(rows.map((row) => [row.id, row.machine_id ?? undefined]));
}
