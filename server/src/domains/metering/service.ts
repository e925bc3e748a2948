import type { Clock } from "../../base/clock.ts";
import type { InstanceId } from "../../base/ids.ts";
import type { Database } from "../../db/connect.ts";
import { withTransaction, type Tx } from "../../db/transaction.ts";
import { lockBillable, lockDueInstances, postponeFirstDue, stopUnpaid } from "../instances/index.ts";
import { lockCredit, noteCapsReached } from "../ledger/index.ts";
import { settleInstances, type Rates, type Stalled } from "./settlement.ts";

/** What one transaction settles: its locks are short, and its statements long enough. */
const BATCH_MAX = 500;
/** Nobody waits for a run of the loop, but its report should come now and then. */
const BATCHES_PER_RUN = 400;

/** More of them mean that the fault is not theirs: a database that is away, for example. */
const FAILURES_MAX = 10;
const POSTPONED_MS = 300_000;

/** In instances and charge lines; `stopped` are those whose owner could not set aside what they may cost. */
export type Settlement = { readonly settled: number; readonly lines: number; readonly stopped: number };

/**
 * Settles everything that is due. Any number of processes may do this side by side, and any of them may die: what is
 * charged and what says that it is charged are written together, and who has to be stopped stays due until he is. An
 * instance that cannot be settled, which nothing should lead to, keeps nobody else from it: it is put off, and said.
 */
export async function settleDue(database: Database, clock: Clock): Promise<Settlement> {
  const counts = { settled: 0, lines: 0, stopped: 0 };
  const failures: unknown[] = [];
  let size = BATCH_MAX;
  // Of seconds ago at most: it only decides after how long something is settled again.
  const rates: Rates = new Map();
  for (let batch = 1; batch <= BATCHES_PER_RUN; batch += 1) {
    try {
      const { count, lineCount, stalled } = await settleBatch(database, clock, { size, rates });
      counts.settled += count;
      counts.lines += lineCount;
      for (const one of stalled) {
        if (await withTransaction(database, clock, (tx) => stop(tx, one))) counts.stopped += 1;
      }
      if (count < size) break;
      size = Math.min(BATCH_MAX, size * 4);
    } catch (error) {
      if (size > 1) {
        size = Math.ceil(size / 8);
        continue;
      }
      failures.push(error);
      if (failures.length > FAILURES_MAX) break;
      await withTransaction(database, clock, (tx) => postponeFirstDue(tx, POSTPONED_MS));
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} instances could not be settled`);
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
