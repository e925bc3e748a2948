import type { MachineId, UserId } from "../../base/ids.ts";
import { invariant } from "../../base/invariant.ts";
import { nanos, type Nanos } from "../../base/money.ts";
import type { Tx } from "../../db/transaction.ts";
import { listMachines, lockMachines } from "../hosts/index.ts";
import { placeHold, releaseHold } from "../ledger/index.ts";
import type { Instance } from "./instance.ts";
import { holdAmount } from "./pricing.ts";
import { findUnchargedRun, type RunKey, type UnchargedRun } from "./run-store.ts";
import { findMachineIdOfAny, lockInstances, setHold } from "./store.ts";
import { applyHappenings } from "./transitions.ts";

/** What a charge needs to know of a run and its instance, whoever owns it. */
export type ChargeableRun = {
  readonly instance: Instance;
  readonly run: UnchargedRun;
  readonly userId: UserId;
  readonly hostId: UserId;
  readonly machineId: MachineId;
  /** For what is not charged yet. */
  readonly priceNanosPerHour: Nanos;
  /** For the same, as far as a deposit pays it. */
  readonly discountPpm: number;
};

/**
 * Locks an instance, with its machine, so that its counters, price and state hold still while a run of it is charged.
 * Undefined when nothing is left to charge: somebody else did it meanwhile.
 */
export async function lockForCharging(tx: Tx, key: RunKey): Promise<ChargeableRun | undefined> {
  const id = key.instanceId;
  const machineId = await findMachineIdOfAny(tx.db, id);
  invariant(machineId !== undefined, `run of an unknown instance ${id}`);
  await lockMachines(tx, [machineId]);
  const run = await findUnchargedRun(tx, key);
  if (run === undefined) return undefined;
  const [instance] = await lockInstances(tx, [id]);
  const machine = (await listMachines(tx.db, [machineId])).get(machineId);
  invariant(instance !== undefined && machine !== undefined, `instance ${id} lost its machine`);
  const lowest = run.lowestNanosPerHour ?? instance.priceNanosPerHour;
  const priceNanosPerHour = nanos(lowest < instance.priceNanosPerHour ? lowest : instance.priceNanosPerHour);
  const discountPpm = Math.max(run.highestDiscountPpm, instance.discountPpm);
  return { instance, run, userId: instance.userId, hostId: machine.hostId, machineId, priceNanosPerHour, discountPpm };
}

/**
 * Sets aside anew what the instance must be able to pay from credit, now that its deposit is used up; nothing for one that
 * has nothing set aside, since it is not wanted to run. False when there is too little: then it has nothing set aside.
 */
export async function renewHold(tx: Tx, { instance }: Pick<ChargeableRun, "instance">): Promise<boolean> {
  if (instance.holdId === undefined) return true;
  await releaseHold(tx, instance.holdId);
  const hold = await placeHold(tx, {
    userId: instance.userId,
    amount: holdAmount(instance),
    cause: { instance_id: instance.id },
  });
  await setHold(tx, instance.id, hold.kind === "placed" ? hold.holdId : undefined);
  return hold.kind === "placed";
}

/** Stops an instance whose owner cannot pay any more, its data kept, and frees what was set aside for its last charge. */
export async function stopForEmptyBalance(tx: Tx, { instance }: Pick<ChargeableRun, "instance">): Promise<void> {
  if (instance.holdId !== undefined) {
    await releaseHold(tx, instance.holdId);
    await setHold(tx, instance.id, undefined);
  }
  const isOver = instance.phase === "ending" || instance.phase === "ended";
  if (isOver) return;
  const happening = { instance: { ...instance, holdId: undefined }, actor: "rule", cause: "balance_empty" };
  await applyHappenings(tx, [{ ...happening, event: "stopRequested", desired: "stopped" }]);
}
