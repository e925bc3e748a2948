import { sql } from "kysely";
import type { MachineId, UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";

/** The owners of these machines, who earn their rent. */
export async function listHostIds(
  db: Reader,
  machineIds: readonly MachineId[],
): Promise<ReadonlyMap<MachineId, UserId>> {
  if (machineIds.length === 0) return new Map();
  const rows = await db
    .selectFrom("machines")
    .select(["id", "host_id"])
    .where("id", "=", sql<MachineId>`any(${[...machineIds]}::integer[])`)
    .execute();
  return new Map(rows.map((row) => [row.id, row.host_id]));
}
