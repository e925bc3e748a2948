import { sql } from "kysely";
import type { InstanceId, MachineId, TemplateId, UserId } from "../../../base/ids.ts";
import { nanos, type Nanos } from "../../../base/money.ts";
import type { Reader } from "../../../db/transaction.ts";

/** An instance by its renter, machine, image and template, and the price of its devices. */
export type Workload = {
  readonly id: InstanceId;
  readonly userId: UserId;
  readonly machineId: MachineId;
  readonly deviceCount: number;
  readonly image: string;
  readonly templateId: TemplateId | undefined;
  readonly templateHashId: string | undefined;
  readonly priceNanosPerHour: Nanos;
};

/** The workloads of those of these instances that exist, in id order. */
export async function listWorkloads(db: Reader, ids: readonly InstanceId[]): Promise<readonly Workload[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom("instances")
    .select(["id", "user_id", "machine_id", "device_count", "template_id", "template_hash_id", "price_nanos_per_hour"])
    .select(sql<string>`launch ->> 'image'`.as("image"))
    .where("id", "=", sql<InstanceId>`any(${[...ids]}::integer[])`)
    .orderBy("id")
    .execute();
  return rows.map((row) => ({
    id: row.id,
    userId: row.user_id,
    machineId: row.machine_id,
    deviceCount: row.device_count,
    image: row.image,
    templateId: row.template_id ?? undefined,
    templateHashId: row.template_hash_id ?? undefined,
    priceNanosPerHour: nanos(row.price_nanos_per_hour),
  }));
}
