import { sql } from "kysely";
import type { MachineId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";

/** What a machine's host allows of registries in its own network. */
export type RegistryAllowance = { readonly machineId: MachineId; readonly allowed: readonly string[] };

/** The registries in their own networks that these machines allow; a simulated one connects to none, and allows all. */
export async function listRegistryAllowances(
  db: Reader,
  machineIds: readonly MachineId[],
): Promise<ReadonlyMap<MachineId, readonly string[]>> {
  const { rows } = await sql<RegistryAllowance>`
    select id as "machineId", ${ALLOWED} as allowed from machines where id = any(${machineIds}::integer[])
  `.execute(db);
  return new Map(rows.map(({ machineId, allowed }) => [machineId, allowed]));
}

/** The machines that allow any, with all that they allow. */
export async function listAllowingMachines(db: Reader): Promise<readonly RegistryAllowance[]> {
  const { rows } = await sql<RegistryAllowance>`
    select id as "machineId", ${ALLOWED} as allowed from machines
    where deleted_at is null and ${ALLOWED} <> '[]'::jsonb order by id
  `.execute(db);
  return rows;
}

/** All that is allowed by any machine there is. */
export async function listAllowedRegistries(db: Reader): Promise<readonly string[]> {
  const { rows } = await sql<{ allowed: string }>`
    select distinct jsonb_array_elements_text(${ALLOWED}) as allowed from machines where deleted_at is null
  `.execute(db);
  return rows.map(({ allowed }) => allowed);
}

const ALLOWED = sql`case when engine_kind = 'simulated' then '["*"]'::jsonb
  else coalesce(facts -> 'allowed_registries', '[]'::jsonb) end`;
