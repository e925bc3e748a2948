import type { Clock } from "../../base/clock.ts";
import type { InstanceId } from "../../base/ids.ts";
import type { Database } from "../../db/connect.ts";
import { withTransaction, type Tx } from "../../db/transaction.ts";
import { lockBillable, lockDueInstances, postponeFirstDue, stopUnpaid } from "../instances/index.ts";
import { lockCredit, noteCapsReached } from "../ledger/index.ts";
import { settleInBatches } from "./batches.ts";
import { settleInstances, type Rates, type Stalled } from "./settlement.ts";

/** In instances and charge lines; `stopped` are those whose owner could not set aside what they may cost. */
export type Settlement = { readonly settled: number; readonly lines: number; readonly stopped: number };

/**
 * Settles everything that is due. Any number of processes may do this side by side, and any of them may die: what is
 * charged and what says that it is charged are written together, and who has to be stopped stays due until he is.
 */
export async function settleDue(database: Database, clock: Clock): Promise<Settlement> {
  const counts = { settled: 0, lines: 0, stopped: 0 };
  // Of seconds ago at most: it only decides after how long something is settled again.
  const rates: Rates = new Map();
  const settle = async (size: number) => {
    const { count, lineCount, stalled } = await settleBatch(database, clock, { size, rates });
    counts.settled += count;
    counts.lines += lineCount;
    for (const one of stalled) {
      if (await withTransaction(database, clock, (tx) => stop(tx, one))) counts.stopped += 1;
    }
    return count;
  };
  await settleInBatches(database, clock, { noun: "instances", settle, postponeFirst: postponeFirstDue });
  return counts;
}

async function settleBatch(
  database: Database,
  clock: Clock,
  { size, rates }: { readonly size: number; readonly rates: Rates },
) {
  return withTransaction(database, clock, async (tx) => {
    const due = await lockDueInstances(tx, size);
    return { count: due.length, ...(await settleInstances(tx, due, { isPassing: false, rates })) };
  });
}

/**
 * The same at once for one instance, in the caller's transaction and under his locks of machine and instance: before its
 * terms change. One that has to be stopped for it stays due, and is stopped soon.
 */
export async function settleInstance(tx: Tx, instanceId: InstanceId): Promise<void> {
  const instance = await lockBillable(tx, instanceId);
  if (instance !== undefined) await settleInstances(tx, [instance], { isPassing: true });
}

/** Stops an instance that nothing is set aside for, its data kept, and notes which limit it was. */
async function stop(tx: Tx, { id, payerId, limitedBy }: Stalled): Promise<boolean> {
  const isStopped = await stopUnpaid(tx, id, limitedBy.kind === "cap" ? "cap_reached" : "balance_empty");
  if (!isStopped || limitedBy.kind === "balance") return isStopped;
  await lockCredit(tx, payerId);
  await noteCapsReached(tx, [limitedBy.capId]);
  return isStopped;
}
