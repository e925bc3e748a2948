import { sql } from "kysely";
import type { InstanceId, MachineId, TemplateId, UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";

/** The user's label of an instance, and the template and devices it was made with. It outlives the instance. */
export type InstanceName = {
  readonly id: InstanceId;
  readonly label: string | undefined;
  readonly templateId: TemplateId | undefined;
  readonly machineId: MachineId;
  /** GPUs, or cores of a machine without GPUs. */
  readonly deviceCount: number;
};

/** The scopes of caps that the orders of these instances of the user fall under, beside account and instance. */
export async function listOrderScopes(
  db: Reader,
  userId: UserId,
  instanceIds: readonly InstanceId[],
): Promise<ReadonlyMap<InstanceId, readonly string[]>> {
  const rows = await db
    .selectFrom("instances")
    .select(["id", "cap_scopes"])
    .where("id", "=", sql<InstanceId>`any(${[...instanceIds]}::integer[])`)
    .where("user_id", "=", userId)
    .execute();
  return new Map(rows.map((row) => [row.id, row.cap_scopes]));
}

/** The instances among these that are, or were, this user's, in id order. */
export async function listInstanceNames(
  db: Reader,
  userId: UserId,
  instanceIds: readonly InstanceId[],
): Promise<readonly InstanceName[]> {
  const rows = await db
    .selectFrom("instances")
    .select(["id", "label", "template_id", "machine_id", "device_count"])
    .where("id", "=", sql<InstanceId>`any(${[...instanceIds]}::integer[])`)
    .where("user_id", "=", userId)
    .orderBy("id")
    .execute();
  return rows.map((row) => ({
    id: row.id,
    label: row.label ?? undefined,
    templateId: row.template_id ?? undefined,
    machineId: row.machine_id,
    deviceCount: row.device_count,
  }));
}
