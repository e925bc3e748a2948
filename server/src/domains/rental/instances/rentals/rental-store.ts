import { sql } from "kysely";
import type { InstanceId, MachineId, UserId } from "../../../../base/ids.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import type { Phase } from "../lifecycle/rules/lifecycle.ts";

/** A rental of a machine, as its host sees it. A host's own background instances are not rentals. */
export type Rental = {
  readonly id: InstanceId;
  readonly machineId: MachineId;
  readonly userId: UserId;
  readonly isBid: boolean;
  readonly phase: Phase;
  readonly deviceCount: number;
  readonly diskBytes: bigint;
  /** The agreed price, or the bid. */
  readonly priceNanosPerHour: Nanos;
  /** The discount of prepaid running time in millionths; 0 for a rental that is not reserved. */
  readonly discountPpm: number;
  readonly storageNanosPerGbMonth: Nanos;
  readonly inetUpNanosPerGb: Nanos;
  readonly inetDownNanosPerGb: Nanos;
  readonly endAt: Date;
};

/** The rentals on these machines that are not being destroyed, in id order. */
export async function listRentals(db: Reader, machineIds: readonly MachineId[]): Promise<readonly Rental[]> {
  const rows = await db
    .selectFrom("instances")
    .select([
      "id",
      "machine_id",
      "user_id",
      "is_bid",
      "phase",
      "device_count",
      "disk_bytes",
      "price_nanos_per_hour",
      "discount_ppm",
      "storage_nanos_per_gb_month",
      "inet_up_nanos_per_gb",
      "inet_down_nanos_per_gb",
      "end_at",
    ])
    .where("machine_id", "=", sql<MachineId>`any(${machineIds}::integer[])`)
    .where("ended_at", "is", null)
    .where("phase", "!=", "ending")
    .where("is_background", "=", false)
    .orderBy("id")
    .execute();
  return rows.map((row) => ({
    id: row.id,
    machineId: row.machine_id,
    userId: row.user_id,
    isBid: row.is_bid,
    phase: row.phase,
    deviceCount: row.device_count,
    diskBytes: row.disk_bytes,
    discountPpm: row.discount_ppm,
    priceNanosPerHour: nanos(row.price_nanos_per_hour),
    storageNanosPerGbMonth: nanos(row.storage_nanos_per_gb_month),
    inetUpNanosPerGb: nanos(row.inet_up_nanos_per_gb),
    inetDownNanosPerGb: nanos(row.inet_down_nanos_per_gb),
    endAt: row.end_at,
  }));
}

/** True when this user rents on the machine, or did once. */
export async function hasRentedOn(db: Reader, userId: UserId, machineId: MachineId): Promise<boolean> {
  const rented = (isOver: boolean) =>
    db
      .selectFrom("instances")
      .select("id")
      .where("user_id", "=", userId)
      .where("machine_id", "=", machineId)
      .where("ended_at", isOver ? "is not" : "is", null)
      .where("is_background", "=", false)
      .limit(1)
      .executeTakeFirst();
  // Two queries, because each has an index of its own.
  return (await rented(false)) !== undefined || (await rented(true)) !== undefined;
}

/** Moves the end of these rentals; never to an earlier time. */
export async function setEnd(tx: Tx, ids: readonly InstanceId[], endAt: Date): Promise<void> {
  await tx.db
    .updateTable("instances")
    .set({ end_at: sql<Date>`greatest(end_at, ${endAt}::timestamptz)` })
    .where("id", "=", sql<InstanceId>`any(${ids}::integer[])`)
    .execute();
}
