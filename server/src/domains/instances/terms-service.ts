import type { InstanceId } from "../../base/ids.ts";
import type { Tx } from "../../db/transaction.ts";
import { setLeasePrice } from "../market/index.ts";
import type { Instance } from "./instance.ts";
import { notePriceChange } from "./run-store.ts";
import { findMachineIdOfAny, lockInstances } from "./store.ts";
import { setDiscount, setPrices, type Prices } from "./terms-store.ts";
import { lockMachines } from "../hosts/index.ts";

/** Locks an instance with its machine, whoever owns it; undefined when there never was one. */
export async function lockAnyInstance(tx: Tx, id: InstanceId): Promise<Instance | undefined> {
  const machineId = await findMachineIdOfAny(tx.db, id);
  if (machineId === undefined) return undefined;
  await lockMachines(tx, [machineId]);
  const [instance] = await lockInstances(tx, [id]);
  return instance;
}

/** Other prices from now on. What was counted up to the first report after this costs the lower of both. */
export async function changePrices(tx: Tx, instance: Instance, prices: Prices): Promise<void> {
  await notePriceChange(tx, instance.id, instance.priceNanosPerHour, instance.discountPpm);
  await setPrices(tx, instance.id, prices);
  await setLeasePrice(tx, instance.id, prices.priceNanosPerHour / BigInt(instance.deviceCount));
}

/** Another discount from now on, with the same lenience. */
export async function changeDiscount(tx: Tx, instance: Instance, discountPpm: number): Promise<void> {
  await notePriceChange(tx, instance.id, instance.priceNanosPerHour, instance.discountPpm);
  await setDiscount(tx, instance.id, discountPpm);
}
