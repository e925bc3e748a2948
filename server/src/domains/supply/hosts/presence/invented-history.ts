import type { Tx } from "../../../../db/transaction.ts";
import type { SimulatedMachine } from "../machines/hardware-store.ts";
import { storeReliability } from "../trust/service.ts";
import { insertInventedDays, listReliabilityFactsOf } from "./presence-store.ts";
import { inventDays } from "./rules/invented-days.ts";

/**
 * Fills the days in which nobody saw these simulated machines, so that a market of simulated hosts looks like one that has
 * been there for a while. A day that was counted stays as it is. The caller holds the machines' locks.
 */
export async function inventHistory(tx: Tx, machines: readonly SimulatedMachine[]): Promise<void> {
  if (machines.length === 0) return;
  await insertInventedDays(
    tx,
    machines.flatMap(({ id, hostKey }) => inventDays(hostKey, tx.now).map((day) => ({ machineId: id, ...day }))),
  );
  const ids = machines.map(({ id }) => id);
  await storeReliability(tx, await listReliabilityFactsOf(tx.db, ids, tx.now));
}
