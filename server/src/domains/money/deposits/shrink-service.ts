// Shrinks deposits from which a returned payment is taken back.
import type { InstanceId, UserId } from "../../../base/ids.ts";
import type { Tx } from "../../../db/transaction.ts";
import { invariant } from "../../../base/invariant.ts";
import { describeMachines } from "../../supply/hosts/index.ts";
import { changeDiscount, lockAnyInstance, lockAnyInstances } from "../../rental/instances/for-deposits.ts";
import { curveOf, noteUses, requireMachine } from "./deposit-service.ts";
import { findDeposit, listDeposits, listOpenDeposits } from "./deposit-store.ts";
import { monthPrice, reservationOf } from "./rules/deposit.ts";

/** An open deposit whose instance the caller has locked. */
export type LockedDeposit = { readonly id: InstanceId; readonly userId: UserId; readonly hostId: UserId };

/**
 * Locks the instances of these users' open deposits and other instances, all in one order. Instances come before
 * accounts, and the caller has none locked.
 */
export async function lockDeposits(
  tx: Tx,
  userIds: readonly UserId[],
  otherIds: readonly InstanceId[] = [],
): Promise<readonly LockedDeposit[]> {
  const open = (await listOpenDeposits(tx.db, userIds)).map(({ id }) => id);
  const instances = await lockAnyInstances(tx, [...new Set([...open, ...otherIds])]);
  const machines = await describeMachines(
    tx.db,
    instances.map(({ machineId }) => machineId),
  );
  // While this transaction waited for the lock, a rental may have ended and its deposit been returned.
  const deposits = await listDeposits(tx.db, open);
  return instances.flatMap(({ id, userId, machineId }) => {
    const hostId = machines.get(machineId)?.hostId;
    invariant(hostId !== undefined, `instance ${id} lost its machine`);
    return deposits.get(id)?.isClosed === false ? [{ id, userId, hostId }] : [];
  });
}

/**
 * Lowers the discounts of deposits to what their rests earn, and never raises one. An empty deposit counts as used up.
 * The caller holds the instances' locks.
 */
export async function shrinkDeposits(tx: Tx, ids: readonly InstanceId[]): Promise<void> {
  for (const id of ids) {
    const instance = await lockAnyInstance(tx, id);
    const deposit = await findDeposit(tx.db, id);
    if (instance === undefined || deposit === undefined) continue;
    if (deposit.leftNanos === 0n) {
      await noteUses(tx, [{ instanceId: id, savedNanos: 0n, isSpent: true }]);
    } else if (instance.phase !== "ended" && instance.discountPpm > 0) {
      const curve = curveOf(await requireMachine(tx, instance));
      const { discountPpm } = reservationOf(deposit.leftNanos, monthPrice(instance.priceNanosPerHour), curve);
      if (discountPpm < instance.discountPpm) await changeDiscount(tx, instance, discountPpm);
    }
  }
}
