import { sql } from "kysely";
import type { InstanceId, MachineId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import type { EncryptedLaunch } from "../../templates/index.ts";

/** Takes ids for instances that are created in this transaction. */
export async function takeIds(tx: Tx, count: number): Promise<readonly InstanceId[]> {
  const { rows } = await sql<{ id: InstanceId }>`
    select nextval(pg_get_serial_sequence('instances', 'id'))::integer as id from generate_series(1, ${count})
  `.execute(tx.db);
  return rows.map((row) => row.id);
}

/** The background instances of a machine that are not being destroyed, in id order. */
export async function listBackground(
  tx: Tx,
  machineId: MachineId,
): Promise<readonly { readonly id: InstanceId; readonly launch: EncryptedLaunch }[]> {
  const rows = await tx.db
    .selectFrom("instances")
    .select(["id", "launch"])
    .where("machine_id", "=", machineId)
    .where("is_background", "=", true)
    .where("ended_at", "is", null)
    .where("phase", "!=", "ending")
    .orderBy("id")
    .execute();
  return rows.map((row) => ({ id: row.id, launch: row.launch as EncryptedLaunch }));
}

/** The number of background instances of each machine; machines without any are missing. */
export async function countBackground(
  db: Reader,
  machineIds: readonly MachineId[],
): Promise<ReadonlyMap<MachineId, number>> {
  const rows = await db
    .selectFrom("instances")
    .select(["machine_id", sql<number>`count(*)::integer`.as("count")])
    .where("machine_id", "=", sql<MachineId>`any(${machineIds}::integer[])`)
    .where("is_background", "=", true)
    .where("ended_at", "is", null)
    .where("phase", "!=", "ending")
    .groupBy("machine_id")
    .execute();
  return new Map(rows.map((row) => [row.machine_id, row.count]));
}
