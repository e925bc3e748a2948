import { sql } from "kysely";
import type { MachineId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";

/** The registries in private networks that a machine's host allows. */
export type RegistryAllowance = { readonly machineId: MachineId; readonly allowed: readonly string[] };

/** The private registries that these machines allow; a simulated machine connects to none, and allows all. */
export async function listRegistryAllowances(
  db: Reader,
  machineIds: readonly MachineId[],
): Promise<ReadonlyMap<MachineId, readonly string[]>> {
  const { rows } = await sql<RegistryAllowance>`
    select id as "machineId", ${ALLOWED} as allowed from machines where id = any(${machineIds}::integer[])
  `.execute(db);
  return new Map(rows.map(({ machineId, allowed }) => [machineId, allowed]));
}

/** The machines that allow any private registry, with all that they allow. */
export async function listAllowingMachines(db: Reader): Promise<readonly RegistryAllowance[]> {
  const { rows } = await sql<RegistryAllowance>`
    select id as "machineId", ${ALLOWED} as allowed from machines
    where deleted_at is null and ${ALLOWED} <> '[]'::jsonb order by id
  `.execute(db);
  return rows;
}

/** All private registries that any machine allows. */
export async function listAllowedRegistries(db: Reader): Promise<readonly string[]> {
  const { rows } = await sql<{ allowed: string }>`
    select distinct jsonb_array_elements_text(${ALLOWED}) as allowed from machines where deleted_at is null
  `.execute(db);
  return rows.map(({ allowed }) => allowed);
}

const ALLOWED = sql`case when engine_kind = 'simulated' then '["*"]'::jsonb
  else coalesce(facts -> 'allowed_registries', '[]'::jsonb) end`;
