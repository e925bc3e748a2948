import type { InstanceId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { LEASE_MS, listSpans, lockMachines } from "../../../supply/hosts/index.ts";
import { setGpuGrantPrice } from "../../../supply/market/for-instances.ts";
import type { Instance } from "../instance.ts";
import { findRunMark, type RunMark } from "../counting/run-store.ts";
import { findMachineIdOfAny, listMachineIdsOfInstances, lockInstances } from "../store.ts";
import { insertPastTerms, setDiscount, setPrices, type Prices } from "./terms-store.ts";
import { makeDue } from "../../../money/tabs/index.ts";

/** Locks an instance of any owner with its machine; undefined when it never existed. */
export async function lockAnyInstance(tx: Tx, id: InstanceId): Promise<Instance | undefined> {
  const machineId = await findMachineIdOfAny(tx.db, id);
  if (machineId === undefined) return undefined;
  await lockMachines(tx, [machineId]);
  const [instance] = await lockInstances(tx, [id]);
  return instance;
}

/** Locks instances of any owner with their machines: all machines before all instances, each in id order. */
export async function lockAnyInstances(tx: Tx, ids: readonly InstanceId[]): Promise<readonly Instance[]> {
  await lockMachines(tx, await listMachineIdsOfInstances(tx.db, ids));
  return lockInstances(tx, ids);
}

/** Changes the prices from now on: use that was counted before keeps its price. */
export async function changePrices(tx: Tx, instance: Instance, prices: Prices): Promise<void> {
  await endTerms(tx, instance);
  await setPrices(tx, instance.id, prices);
  await setGpuGrantPrice(tx, instance.id, prices.priceNanosPerHour / BigInt(instance.deviceCount));
  // The hold has to follow the new price.
  await makeDue(tx, [instance.id]);
}

/** Changes the discount from now on. */
export async function changeDiscount(tx: Tx, instance: Instance, discountPpm: number): Promise<void> {
  await endTerms(tx, instance);
  await setDiscount(tx, instance.id, discountPpm);
}

/**
 * Notes that the terms of an instance hold up to now. Its host has not reported its counters up to this moment yet, so
 * for a run that goes on, the mark is the last count and the time since. The caller holds the lock of its machine.
 */
export async function endTerms(tx: Tx, instance: Instance): Promise<void> {
  const { id, generation } = instance;
  const run = await findRunMark(tx, { instanceId: id, generation });
  const unseenMs = run === undefined ? 0 : await sinceLastCount(tx, instance, run);
  await insertPastTerms(tx, {
    instanceId: id,
    untilAt: tx.now,
    generation,
    untilRunningMs: (run?.runningMs ?? 0n) + BigInt(unseenMs),
    untilReceivedBytes: run?.receivedBytes ?? 0n,
    untilSentBytes: run?.sentBytes ?? 0n,
    priceNanosPerHour: instance.priceNanosPerHour,
    storageNanosPerGbMonth: instance.storageNanosPerGbMonth,
    inetUpNanosPerGb: instance.inetUpNanosPerGb,
    inetDownNanosPerGb: instance.inetDownNanosPerGb,
    discountPpm: instance.discountPpm,
  });
}

async function sinceLastCount(tx: Tx, instance: Instance, run: RunMark): Promise<number> {
  const { machineId, generation, observed, endAt } = instance;
  if (observed?.generation !== generation || observed.state !== "running") return 0;
  const machine = (await listSpans(tx.db, [machineId], tx.now)).get(machineId);
  if (machine === undefined) return 0;
  // A disconnected machine runs on for a heartbeat lease; if it is not back by then, the run had stopped, and the next
  // run has its own mark.
  const isAlive = tx.now.getTime() - machine.lastSeenAt.getTime() <= LEASE_MS;
  const ends = [isAlive ? tx.now : machine.lastSeenAt, endAt, run.closedAt ?? tx.now].map((at) => at.getTime());
  const untilMs = Math.min(...ends);
  const sinceCountMs = Math.max(0, untilMs - run.lastCountedAt.getTime());
  // A count that was late on its way lacks the time since it was taken: that time is spare, and the run, which did not
  // pause, has been running for longer than its counter and the time since the count say.
  const lateMs = untilMs - (run.meteredFromAt ?? run.lastCountedAt).getTime() - Number(run.runningMs) - sinceCountMs;
  return sinceCountMs + Math.min(Math.max(0, lateMs), Number(run.spareMs));
}
