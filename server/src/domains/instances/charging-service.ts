import type { InstanceId, MachineId, UserId } from "../../base/ids.ts";
import { invariant } from "../../base/invariant.ts";
import type { Nanos } from "../../base/money.ts";
import type { Tx } from "../../db/transaction.ts";
import { listMachines, lockMachines } from "../hosts/index.ts";
import { releaseHold } from "../ledger/index.ts";
import type { Instance } from "./instance.ts";
import { findMachineIdOfAny, lockInstances, setHold } from "./store.ts";
import { applyHappenings } from "./transitions.ts";

/** What a charge needs to know of an instance, whoever owns it. */
export type ChargeableInstance = {
  readonly instance: Instance;
  readonly userId: UserId;
  readonly hostId: UserId;
  readonly machineId: MachineId;
  readonly priceNanosPerHour: Nanos;
};

/** Locks an instance, with its machine, so that its price and state hold still while it is charged. */
export async function lockForCharging(tx: Tx, id: InstanceId): Promise<ChargeableInstance> {
  const machineId = await findMachineIdOfAny(tx.db, id);
  invariant(machineId !== undefined, `run of an unknown instance ${id}`);
  await lockMachines(tx, [machineId]);
  const [instance] = await lockInstances(tx, [id]);
  const machine = (await listMachines(tx.db, [machineId])).get(machineId);
  invariant(instance !== undefined && machine !== undefined, `instance ${id} lost its machine`);
  const { userId, priceNanosPerHour } = instance;
  return { instance, userId, hostId: machine.hostId, machineId, priceNanosPerHour };
}

/** Stops an instance whose owner cannot pay any more, its data kept, and frees what was set aside for its last charge. */
export async function stopForEmptyBalance(tx: Tx, { instance }: ChargeableInstance): Promise<void> {
  if (instance.holdId !== undefined) {
    await releaseHold(tx, instance.holdId);
    await setHold(tx, instance.id, undefined);
  }
  const isOver = instance.phase === "ending" || instance.phase === "ended";
  if (isOver) return;
  const happening = { instance: { ...instance, holdId: undefined }, actor: "rule", cause: "balance_empty" };
  await applyHappenings(tx, [{ ...happening, event: "stopRequested", desired: "stopped" }]);
}
