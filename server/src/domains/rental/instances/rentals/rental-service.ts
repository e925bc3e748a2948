import type { InstanceId, MachineId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { deleteInstanceKeys, deleteInstanceSshKeys } from "../../../people/accounts/for-instances.ts";
import { listScheduledMachines } from "../../../supply/hosts/index.ts";
import { refreshOffers } from "../../../supply/market/index.ts";
import type { Actor, Instance } from "../instance.ts";
import { tellExtended } from "../lifecycle/notifications.ts";
import { listRentals, setEnd } from "./rental-store.ts";
import { insertEvents, lockInstances } from "../store.ts";
import { applyHappenings, displace, reschedule } from "../lifecycle/transitions.ts";

/** The actor of a change of rentals, and its cause in their events. */
type Reason = { readonly actor: Actor; readonly cause: string };

/** Extends these rentals until `endAt`, at their own prices. The caller holds the locks of their machines. */
export async function extendRentals(
  tx: Tx,
  ids: readonly InstanceId[],
  { endAt, actor }: { readonly endAt: Date; readonly actor: Actor },
): Promise<void> {
  const instances = await lockInstances(tx, ids);
  await setEnd(
    tx,
    instances.map((instance) => instance.id),
    endAt,
  );
  await noteOn(tx, instances, { actor, cause: "contract_extended" });
  await tellExtended(tx, instances, endAt);
}

/** Writes an event into the history of everything that is rented on the machine. */
export async function noteOnRentals(tx: Tx, machineId: MachineId, reason: Reason): Promise<void> {
  const rentals = await listRentals(tx.db, [machineId]);
  const instances = await lockInstances(
    tx,
    rentals.map((rental) => rental.id),
  );
  await noteOn(tx, instances, reason);
}

async function noteOn(tx: Tx, instances: readonly Instance[], { actor, cause }: Reason): Promise<void> {
  await insertEvents(
    tx,
    instances.map(({ id, phase, generation }) => ({
      instanceId: id,
      actor,
      cause,
      from: phase,
      to: phase,
      generation,
    })),
  );
}

/**
 * Applies changed terms of a machine: bids below its minimum have to leave, bids that reach it now may run, and its
 * offers are refreshed. The caller holds the machine's lock.
 */
export async function followTerms(tx: Tx, machineId: MachineId): Promise<void> {
  const machine = (await listScheduledMachines(tx.db, [machineId])).get(machineId);
  if (machine === undefined) return;
  const minimum = machine.priceMinBidNanosPerHour;
  const below = (await listRentals(tx.db, [machineId])).filter(
    ({ isBid, priceNanosPerHour, deviceCount }) => isBid && priceNanosPerHour < minimum * BigInt(deviceCount),
  );
  const instances = await lockInstances(
    tx,
    below.map((rental) => rental.id),
  );
  await displace(tx, instances, "bid_below_minimum");
  await reschedule(tx, [machineId]);
  await refreshOffers(tx, [machineId]);
}

/** Destroys these instances of any owner. The caller holds the locks of their machines. */
export async function destroyInstances(tx: Tx, ids: readonly InstanceId[], { actor, cause }: Reason): Promise<number> {
  const instances = (await lockInstances(tx, ids)).filter(({ phase }) => phase !== "ending" && phase !== "ended");
  await applyHappenings(
    tx,
    instances.map((instance) => ({ instance, event: "destroyRequested", actor, cause, desired: "destroyed" })),
  );
  const doneIds = instances.map((instance) => instance.id);
  await deleteInstanceKeys(tx, doneIds);
  await deleteInstanceSshKeys(tx, doneIds);
  return doneIds.length;
}
