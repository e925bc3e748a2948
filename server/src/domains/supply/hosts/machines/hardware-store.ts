import { sql, type RawBuilder } from "kysely";
import type { MachineId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";

/** The GPU model of each of these machines; machines that rent out their cores are left out. */
export async function listGpuModels(
  db: Reader,
  machineIds: readonly MachineId[],
): Promise<ReadonlyMap<MachineId, string>> {
  if (machineIds.length === 0) return new Map();
  const { rows } = await sql<{ id: MachineId; model: string | null }>`
    select m.id, (
      select d.facts ->> 'name' from devices d
      where d.machine_id = m.id and d.kind = 'gpu'
      order by d.is_present desc, d.position limit 1
    ) as model
    from machines m
    where m.id = any(${[...machineIds]}::integer[]) and m.resource_type = 'gpu'
  `.execute(db);
  return new Map(rows.flatMap(({ id, model }) => (model === null ? [] : [[id, model] as const])));
}

/** SQL for other stores: true for a machine whose containers are simulated. */
export const isSimulated = (machineId: RawBuilder<unknown>) =>
  sql<boolean>`(select machines.engine_kind = 'simulated' from machines where machines.id = ${machineId})`;

/** A simulated machine, and the key that its invented properties follow from. */
export type SimulatedMachine = { readonly id: MachineId; readonly hostKey: string };

/** Those of these machines that the operator simulates: joined by others, a simulated machine gets nothing invented. */
export async function listOwnSimulated(
  db: Reader,
  machineIds: readonly MachineId[],
): Promise<readonly SimulatedMachine[]> {
  const { rows } = await sql<SimulatedMachine>`
    select machines.id, machines.host_key as "hostKey"
    from machines join agent_credentials on agent_credentials.id = machines.agent_credential_id
    where machines.id = any(${[...machineIds]}::integer[]) and machines.engine_kind = 'simulated'
      and agent_credentials.is_trusted and agent_credentials.fingerprint is null
    order by machines.id
  `.execute(db);
  return rows;
}
