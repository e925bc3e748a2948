// GPU grants for the audit of the books and the reconciliation.
import { sql } from "kysely";
import type { InstanceId, MachineId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";

/** The devices that an instance holds, and their machines: more than one only by mistake. */
export type HeldDevices = {
  readonly instanceId: InstanceId;
  readonly deviceCount: number;
  readonly machineIds: readonly MachineId[];
};

export async function listHeldDevices(db: Reader): Promise<ReadonlyMap<InstanceId, HeldDevices>> {
  const { rows } = await sql<{ instance_id: InstanceId; device_count: number; machine_ids: readonly MachineId[] }>`
    select instance_id, count(*)::integer as device_count, array_agg(distinct machine_id) as machine_ids
    from leases
    where released_at is null
    group by instance_id
    order by instance_id
  `.execute(db);
  return new Map(
    rows.map((row) => [
      row.instance_id,
      { instanceId: row.instance_id, deviceCount: row.device_count, machineIds: row.machine_ids },
    ]),
  );
}
