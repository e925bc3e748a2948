import { sql } from "kysely";
import type { MachineId, ServerId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { notifyMarket } from "../market-channel-store.ts";
import { SETTLE_MS } from "../presence/rules/presence.ts";
import { closeSpans, openSpans } from "../presence/span-store.ts";
import { lockMachines, type Registration } from "../store.ts";

/**
 * Ends the connections of these servers, whose processes are over. Containers on their machines keep running, and the
 * absence does not count against the machines until they had time to connect to another server. Returns the machines.
 */
export async function disconnectServers(tx: Tx, serverIds: readonly ServerId[]): Promise<readonly MachineId[]> {
  if (serverIds.length === 0) return [];
  const rows = await tx.db
    .selectFrom("machines")
    .select("id")
    .where("server_id", "=", sql<ServerId>`any(${serverIds}::integer[])`)
    .orderBy("id")
    .forUpdate()
    .execute();
  const ids = rows.map((row) => row.id);
  await excuse(tx, ids);
  return ids;
}

/**
 * Ends connections that have no server and that nobody has heard since: those of a version with one server per
 * database, or of a server that could not note their end.
 */
export async function disconnectUnowned(tx: Tx, heardBefore: Date): Promise<readonly MachineId[]> {
  const rows = await tx.db
    .selectFrom("machines")
    .select("id")
    .where("is_connected", "=", true)
    .where("server_id", "is", null)
    .where("last_seen_at", "<", heardBefore)
    .orderBy("id")
    .forUpdate()
    .execute();
  const ids = rows.map((row) => row.id);
  await excuse(tx, ids);
  return ids;
}

async function excuse(tx: Tx, ids: readonly MachineId[]): Promise<void> {
  if (ids.length === 0) return;
  await closeSpans(tx, ids);
  await tx.db
    .updateTable("machines")
    .set({ is_connected: false, server_id: null, excused_until_at: new Date(tx.now.getTime() + SETTLE_MS) })
    .where("id", "=", sql<MachineId>`any(${ids}::integer[])`)
    .execute();
  await notifyMarket(tx, ids);
}

/** Connections that are open here and are the newest of their machines, but do not count as this server's. */
export async function listMistakenConnections(
  db: Reader,
  open: readonly Registration[],
  serverId: ServerId | undefined,
): Promise<readonly Registration[]> {
  if (open.length === 0) return [];
  const { rows } = await sql<Registration>`
    select machines.id as "machineId", machines.session_number as "sessionNumber" from unnest(
      ${open.map(({ machineId }) => machineId)}::integer[], ${open.map(({ sessionNumber }) => sessionNumber)}::integer[]
    ) as held (id, session_number)
    join machines using (id, session_number)
    where not machines.is_connected or machines.server_id is distinct from ${serverId ?? null}::integer
    order by machines.id
  `.execute(db);
  return rows;
}

/** The connections that are open on this server now, and the length of their machines' heartbeat leases. */
export type OpenConnections = {
  readonly open: readonly Registration[];
  /** Id of this server; undefined where it is the only one. */
  readonly serverId: ServerId | undefined;
  readonly leaseMs: number;
};

/**
 * Gives connections that are open here back to this server, which another server took for dead: the agents never left.
 * The open connections are read again under the locks of the machines: a departure that was noted before stays, one
 * that comes now is noted after this transaction. Returns the machines.
 */
export async function takeBackConnections(
  tx: Tx,
  connections: readonly Registration[],
  now: () => OpenConnections,
): Promise<readonly MachineId[]> {
  const mistaken = await listMistakenConnections(tx.db, connections, now().serverId);
  await lockMachines(
    tx,
    mistaken.map(({ machineId }) => machineId),
  );
  const { open, serverId, leaseMs } = now();
  const numbers = new Map(open.map(({ machineId, sessionNumber }) => [machineId, sessionNumber]));
  const still = mistaken.filter(({ machineId, sessionNumber }) => numbers.get(machineId) === sessionNumber);
  return reclaimConnections(tx, still, { serverId, leaseMs });
}

/**
 * Gives these connections to this server. The caller knows that they are open, and notes their departures after its
 * transaction. A machine that has connected elsewhere stays there. Call it before they are noted as seen now.
 */
export async function reclaimConnections(
  tx: Tx,
  open: readonly Registration[],
  { serverId, leaseMs }: { readonly serverId: ServerId | undefined; readonly leaseMs: number },
): Promise<readonly MachineId[]> {
  if (open.length === 0) return [];
  const { rows } = await sql<{ id: MachineId }>`
    select machines.id from unnest(
      ${open.map(({ machineId }) => machineId)}::integer[], ${open.map(({ sessionNumber }) => sessionNumber)}::integer[]
    ) as held (id, session_number)
    join machines using (id, session_number)
    where not machines.is_connected or machines.server_id is distinct from ${serverId ?? null}::integer
    order by machines.id
    for update of machines
  `.execute(tx.db);
  const ids = rows.map((row) => row.id);
  if (ids.length === 0) return [];
  await openSpans(tx, ids, leaseMs);
  await tx.db
    .updateTable("machines")
    .set({ is_connected: true, server_id: serverId ?? null })
    .where("id", "=", sql<MachineId>`any(${ids}::integer[])`)
    .execute();
  await notifyMarket(tx, ids);
  return ids;
}
