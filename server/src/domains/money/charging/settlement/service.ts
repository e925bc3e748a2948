import type { Clock } from "../../../../base/clock.ts";
import type { InstanceId, UserId } from "../../../../base/ids.ts";
import type { Database } from "../../../../db/connect.ts";
import { withTransaction, type Reader, type Tx } from "../../../../db/transaction.ts";
import { listHostIds } from "../../../supply/hosts/index.ts";
import { lockMachinesOf } from "../../../rental/instances/index.ts";
import { stopFlooded, stopUnpaid } from "../../../rental/instances/for-charging.ts";
import { lockCredit, type CapScope } from "../../ledger/index.ts";
import { noteCapsReached } from "../../ledger/for-charging.ts";
import { settleInBatches } from "./batches.ts";
import type { Rates } from "./item.ts";
import { settleInstances, type Stalled } from "./settlement.ts";
import {
  listBillablesOf,
  listOpenWithin,
  lockBillable,
  lockBillables,
  lockDueInstances,
  postponeFirstDue,
} from "./billable-store.ts";
import { makeDue } from "../../tabs/index.ts";

/**
 * Counts of settled instances and charge lines; `stopped` counts instances whose owners could not cover them with a
 * hold.
 */
export type Settlement = { readonly settled: number; readonly lines: number; readonly stopped: number };

/**
 * Settles everything that is due. Any number of processes may do this side by side, and any of them may die: charges
 * and the marks of charged usage are written together, and an instance that must be stopped stays due until it is.
 */
export async function settleDue(database: Database, clock: Clock): Promise<Settlement> {
  const counts = { settled: 0, lines: 0, stopped: 0 };
  // At most seconds old: the rates only decide the time until the next settlement.
  const rates: Rates = new Map();
  const settle = async (size: number) => {
    const { count, lineCount, stalled, flooded } = await settleBatch(database, clock, { size, rates });
    counts.settled += count;
    counts.lines += lineCount;
    for (const one of stalled) {
      if (await withTransaction(database, clock, (tx) => stop(tx, one))) counts.stopped += 1;
    }
    for (const id of flooded) {
      if (await withTransaction(database, clock, (tx) => stopFlooded(tx, id))) counts.stopped += 1;
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
 * Settles one instance in the caller's transaction, which holds the locks of its machine and of the instance, before
 * its terms change. If it must be stopped, it stays due and is stopped soon.
 */
export async function settleInstance(tx: Tx, instanceId: InstanceId): Promise<void> {
  const instance = await lockBillable(tx, instanceId);
  if (instance !== undefined) await settleInstances(tx, [instance], { isPassing: true });
}

/** Instances that a request for a cap settles itself; the loop settles the rest of a larger account within seconds. */
export const SETTLED_AT_ONCE_MAX = 500;

/**
 * Settles the instances of a user within a scope in the caller's transaction, before a cap on it changes. Holds stay as
 * small as possible, and all instances are due again at once: those that may not run any more are stopped then, in
 * other transactions, since stopping locks the accounts of other hosts. `isCovered` is true when holds cover everything
 * that may run; for a large account, which is not settled completely, it may be false without need.
 */
export async function settleWithin(
  tx: Tx,
  which: { readonly userId: UserId; readonly scope: CapScope },
): Promise<{ readonly isCovered: boolean }> {
  const ids = await listOpenWithin(tx.db, which);
  if (ids.length === 0) return { isCovered: true };
  // Locks machines before instances, and instances before accounts, as everywhere.
  await lockMachinesOf(tx, ids);
  const instances = await lockBillables(tx, ids.slice(0, SETTLED_AT_ONCE_MAX));
  await makeDue(tx, ids.slice(SETTLED_AT_ONCE_MAX));
  const { isCovered } = await settleInstances(tx, instances, { isPassing: true });
  // An instance that has not started is not due by itself, and the new cap may not cover it.
  await makeDue(
    tx,
    instances
      .filter(({ meteredFromAt, holdId }) => meteredFromAt === undefined && holdId !== undefined)
      .map(({ id }) => id),
  );
  return { isCovered: isCovered && ids.length <= SETTLED_AT_ONCE_MAX };
}

/**
 * The instances that a user is charged for now, at most `SETTLED_AT_ONCE_MAX`, each with the host who earns by it;
 * takes no locks.
 */
export async function listRunsOf(
  db: Reader,
  userId: UserId,
): Promise<readonly { readonly id: InstanceId; readonly hostId: UserId }[]> {
  const billables = (await listBillablesOf(db, userId)).slice(0, SETTLED_AT_ONCE_MAX);
  const hostIds = await listHostIds(db, [...new Set(billables.map(({ machineId }) => machineId))]);
  return billables.flatMap(({ id, machineId }) => {
    const hostId = hostIds.get(machineId);
    return hostId === undefined ? [] : [{ id, hostId }];
  });
}

/**
 * Settles these instances in the caller's transaction, which holds the locks of their machines, of themselves, and of
 * the accounts of their renter and hosts. Holds stay as small as possible, and the instances are due again at once.
 */
export async function settleLocked(tx: Tx, ids: readonly InstanceId[]): Promise<void> {
  await settleInstances(tx, await lockBillables(tx, ids), { isPassing: true });
}

/** Stops an instance whose hold was refused, keeps its data, and notes which limit was reached. */
async function stop(tx: Tx, { id, payerId, limitedBy }: Stalled): Promise<boolean> {
  const isStopped = await stopUnpaid(tx, id, limitedBy.kind === "cap" ? "cap_reached" : "balance_empty");
  if (!isStopped || limitedBy.kind === "balance") return isStopped;
  await lockCredit(tx, payerId);
  await noteCapsReached(tx, [limitedBy.capId]);
  return isStopped;
}
