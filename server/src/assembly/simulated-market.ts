import type { MachineId } from "../base/ids.ts";
import type { Tx } from "../db/transaction.ts";
import { inventHistory, listOwnSimulated } from "../domains/supply/hosts/for-assembly.ts";
import { inventSpace } from "../domains/supply/volumes/for-assembly.ts";

/**
 * Gives simulated hosts of the operator what hosts have that have been on the market for a while: a history, and volume
 * space. So clients find them with the filters that they use for real markets. The caller holds the machines' locks.
 */
export async function furnishSimulatedHosts(tx: Tx, machineIds: readonly MachineId[]): Promise<void> {
  const own = await listOwnSimulated(tx.db, machineIds);
  await inventHistory(tx, own);
  await inventSpace(
    tx,
    own.map(({ id }) => id),
  );
}
