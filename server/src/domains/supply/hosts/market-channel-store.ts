import { sql } from "kysely";
import type { MachineId } from "../../../base/ids.ts";
import type { Tx } from "../../../db/transaction.ts";

/** Channel on which every process learns that offers of machines may have changed; the payload lists machine ids. */
export const MARKET_CHANNEL = "market_changed";

/** Announces, at commit, that offers of these machines may have changed: their devices, or space on their disks. */
export async function notifyMarket(tx: Tx, machineIds: readonly MachineId[]): Promise<void> {
  await notifyMachines(tx, MARKET_CHANNEL, machineIds);
}

const IDS_PER_NOTIFICATION = 500;

/** Sends machine ids on a channel at commit, split into as many notifications as the size limit of PostgreSQL needs. */
export async function notifyMachines(tx: Tx, channel: string, machineIds: readonly MachineId[]): Promise<void> {
  for (let start = 0; start < machineIds.length; start += IDS_PER_NOTIFICATION) {
    const payload = machineIds.slice(start, start + IDS_PER_NOTIFICATION).join(",");
    await sql`select pg_notify(${channel}, ${payload})`.execute(tx.db);
  }
}
