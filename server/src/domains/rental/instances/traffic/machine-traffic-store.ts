import { sql } from "kysely";
import type { MachineId } from "../../../../base/ids.ts";
import { bigints, integers } from "../../../../db/arrays.ts";
import type { Tx } from "../../../../db/transaction.ts";

/** Bytes that containers of a machine are newly reported to have moved. */
export type MovedBytes = { readonly receivedBytes: bigint; readonly sentBytes: bigint };
/** All bytes reported since a moment. */
export type MachineTraffic = MovedBytes & { readonly machineId: MachineId; readonly sinceAt: Date };

/** Adds the new bytes of each machine and returns the sums. The caller holds the machines' locks. */
export async function addMachineTraffic(
  tx: Tx,
  moved: ReadonlyMap<MachineId, MovedBytes>,
): Promise<readonly MachineTraffic[]> {
  if (moved.size === 0) return [];
  const all = [...moved.values()];
  const { rows } = await sql<MachineTraffic>`
    insert into machine_traffic as sum (machine_id, since_at, received_bytes, sent_bytes)
    select machine_id, ${tx.now}::timestamptz, received_bytes, sent_bytes from unnest(
      ${integers([...moved.keys()])}::integer[], ${bigints(all.map((one) => one.receivedBytes))}::bigint[],
      ${bigints(all.map((one) => one.sentBytes))}::bigint[]
    ) as said (machine_id, received_bytes, sent_bytes)
    on conflict (machine_id) do update set
      received_bytes = sum.received_bytes + excluded.received_bytes, sent_bytes = sum.sent_bytes + excluded.sent_bytes
    returning machine_id as "machineId", since_at as "sinceAt", received_bytes as "receivedBytes",
      sent_bytes as "sentBytes"
  `.execute(tx.db);
  return rows;
}

/** Restarts the sums at zero from now on. */
export async function restartMachineTraffic(tx: Tx, ids: readonly MachineId[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    update machine_traffic set since_at = ${tx.now}::timestamptz, received_bytes = 0, sent_bytes = 0
    where machine_id = any(${integers(ids)}::integer[])
  `.execute(tx.db);
}
