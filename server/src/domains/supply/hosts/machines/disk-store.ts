import { sql } from "kysely";
import type { MachineId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { promisedOn } from "../store.ts";

/**
 * Free bytes on these machines' own disks: not promised to an instance or volume. They do not change while the caller
 * holds the machine's lock.
 */
export async function listFreeDiskBytes(
  db: Reader,
  ids: readonly MachineId[],
): Promise<ReadonlyMap<MachineId, bigint>> {
  const { rows } = await sql<{ id: MachineId; free_bytes: bigint }>`
    with ${promisedOn(ids)}
    select id, greatest(0, (facts -> 'disk_bytes')::bigint - coalesce(promised.bytes, 0)) as free_bytes
    from machines left join promised on promised.machine_id = machines.id
    where id = any(${ids}::integer[])
  `.execute(db);
  return new Map(rows.map((row) => [row.id, row.free_bytes]));
}
