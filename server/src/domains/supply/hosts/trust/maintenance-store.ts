import { sql } from "kysely";
import type { MachineId } from "../../../../base/ids.ts";
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
  readonly machineId: MachineId;
  readonly startAt: Date;
  readonly endAt: Date;
  readonly category: MaintenanceCategory;
  readonly reason: string;
};

export async function insertMaintenance(tx: Tx, maintenance: Maintenance): Promise<void> {
  await tx.db
    .insertInto("machine_maintenances")
    .values({
      machine_id: maintenance.machineId,
      start_at: maintenance.startAt,
      end_at: maintenance.endAt,
      category: maintenance.category,
      reason: maintenance.reason,
      created_at: tx.now,
    })
    .execute();
}

/** Current and future maintenances of these machines, the earliest first. */
export async function listMaintenances(
  db: Reader,
  machineIds: readonly MachineId[],
  now: Date,
): Promise<readonly Maintenance[]> {
  if (machineIds.length === 0) return [];
  const rows = await db
    .selectFrom("machine_maintenances")
    .select(["machine_id", "start_at", "end_at", "category", "reason"])
    .where("machine_id", "=", sql<MachineId>`any(${machineIds}::integer[])`)
    .where("end_at", ">", now)
    .where("cancelled_at", "is", null)
    .orderBy("start_at")
    .orderBy("id")
    .execute();
  return rows.map((row) => ({
    machineId: row.machine_id,
    startAt: row.start_at,
    endAt: row.end_at,
    category: row.category,
    reason: row.reason,
  }));
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
