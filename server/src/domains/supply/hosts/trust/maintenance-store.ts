import { sql } from "kysely";
import type { MachineId, MachineMaintenanceId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";

/** Categories of a maintenance; clients send `not provided` when the host named none. */
export const MAINTENANCE_CATEGORIES = [
  "power",
  "internet",
  "disk",
  "gpu",
  "software",
  "other",
  "not provided",
] as const;
export type MaintenanceCategory = (typeof MAINTENANCE_CATEGORIES)[number];

/** A period in which a host works on a machine, and its renters must expect interruptions. */
export type Maintenance = {
  readonly id: MachineMaintenanceId;
  readonly machineId: MachineId;
  readonly startAt: Date;
  readonly endAt: Date;
  readonly category: MaintenanceCategory;
  readonly reason: string;
  readonly createdAt: Date;
};

/** A maintenance before it is stored. */
export type NewMaintenance = Omit<Maintenance, "id" | "createdAt">;

export async function insertMaintenance(tx: Tx, maintenance: NewMaintenance): Promise<MachineMaintenanceId> {
  const row = await tx.db
    .insertInto("machine_maintenances")
    .values({
      machine_id: maintenance.machineId,
      start_at: maintenance.startAt,
      end_at: maintenance.endAt,
      category: maintenance.category,
      reason: maintenance.reason,
      created_at: tx.now,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

const COLUMNS = ["id", "machine_id", "start_at", "end_at", "category", "reason", "created_at"] as const;
/** Maintenances of one answer; all of the present and the future fit, since a machine has few of them. */
const LISTED_MAX = 10_000;

/** Maintenances of these machines that are not over at `now`, the earliest first. */
export async function listMaintenances(
  db: Reader,
  machineIds: readonly MachineId[],
  now: Date,
): Promise<readonly Maintenance[]> {
  if (machineIds.length === 0) return [];
  const rows = await db
    .selectFrom("machine_maintenances")
    .select(COLUMNS)
    .where("machine_id", "=", sql<MachineId>`any(${machineIds}::integer[])`)
    .where("end_at", ">", now)
    .where("cancelled_at", "is", null)
    .orderBy("start_at")
    .orderBy("id")
    .limit(LISTED_MAX)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    machineId: row.machine_id,
    startAt: row.start_at,
    endAt: row.end_at,
    category: row.category,
    reason: row.reason,
    createdAt: row.created_at,
  }));
}

/** Those of these maintenances that exist: the machine, the end, and whether it was cancelled. */
export async function findMaintenances(
  db: Reader,
  ids: readonly MachineMaintenanceId[],
): Promise<
  ReadonlyMap<
    MachineMaintenanceId,
    { readonly machineId: MachineId; readonly endAt: Date; readonly isCancelled: boolean }
  >
> {
  const rows = await db
    .selectFrom("machine_maintenances")
    .select(["id", "machine_id", "end_at", "cancelled_at"])
    .where("id", "=", sql<MachineMaintenanceId>`any(${[...ids]}::integer[])`)
    .execute();
  return new Map(
    rows.map((row) => [
      row.id,
      { machineId: row.machine_id, endAt: row.end_at, isCancelled: row.cancelled_at !== null },
    ]),
  );
}

/** Cancels one maintenance that is not over; false when it was cancelled before. */
export async function cancelOneMaintenance(tx: Tx, id: MachineMaintenanceId): Promise<boolean> {
  const result = await tx.db
    .updateTable("machine_maintenances")
    .set({ cancelled_at: tx.now })
    .where("id", "=", id)
    .where("end_at", ">", tx.now)
    .where("cancelled_at", "is", null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Cancels maintenances that are not over; returns how many. */
export async function cancelMaintenances(tx: Tx, machineId: MachineId): Promise<number> {
  const result = await tx.db
    .updateTable("machine_maintenances")
    .set({ cancelled_at: tx.now })
    .where("machine_id", "=", machineId)
    .where("end_at", ">", tx.now)
    .where("cancelled_at", "is", null)
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
}
