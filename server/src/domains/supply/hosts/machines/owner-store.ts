import { sql, type RawBuilder } from "kysely";
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

/** The id of a machine in a statement: a column or a parameter. */
type IdInSql = RawBuilder<unknown>;

/** SQL for other stores: the owner of a machine. */
export const hostIdOf = (machineId: IdInSql) =>
  sql<UserId>`(select machines.host_id from machines where machines.id = ${machineId})`;

/** SQL for other stores: true for a machine of one of these hosts. */
export const isOwnedBy = (machineId: IdInSql, hostIds: readonly UserId[]) =>
  sql<boolean>`exists (
    select from machines where machines.id = ${machineId} and machines.host_id = any(${[...hostIds]}::integer[])
  )`;
