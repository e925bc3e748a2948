import type { MachineId, OfferId } from "../../base/ids.ts";
import type { Reader, Tx } from "../../db/transaction.ts";
import { listScheduledMachines, notifyMarket } from "../hosts/index.ts";
import { offerSizes } from "./allocation.ts";
import { availableCount, type MachineState } from "./machine-state.ts";
import { insertOffers, listLiveLeases, listLiveOffers, retireOffers } from "./store.ts";

/** Reads everything that decides who may run on these machines. Whoever decides by it holds their row locks. */
export async function readMachineStates(
  { db }: { readonly db: Reader },
  machineIds: readonly MachineId[],
): Promise<ReadonlyMap<MachineId, MachineState>> {
  const machines = await listScheduledMachines(db, machineIds);
  const leases = Map.groupBy(await listLiveLeases(db, machineIds), (lease) => lease.machineId);
  const offers = Map.groupBy(await listLiveOffers(db, machineIds), (offer) => offer.machineId);
  return new Map(
    [...machines].map(([id, machine]) => [id, { machine, leases: leases.get(id) ?? [], offers: offers.get(id) ?? [] }]),
  );
}

/** Brings the offers of these machines in line with what is available, after their leases changed. */
export async function refreshOffers(tx: Tx, machineIds: readonly MachineId[]): Promise<void> {
  await alignOffers(tx, [...(await readMachineStates(tx, machineIds)).values()]);
}

/**
 * The same for states that the caller has brought up to date itself and holds the row locks of. `rented` are offers of
 * theirs that are used up, whatever is available.
 */
export async function alignOffers(
  tx: Tx,
  states: readonly MachineState[],
  rented: ReadonlySet<OfferId> = new Set(),
): Promise<void> {
  const retired: OfferId[] = [];
  const missing: { machineId: MachineId; deviceCount: number }[] = [];
  for (const state of states) {
    const { isListed, minChunk } = state.machine;
    const wanted = new Set(isListed ? offerSizes(availableCount(state), minChunk) : []);
    for (const offer of state.offers) {
      if (rented.has(offer.id) || !wanted.delete(offer.deviceCount)) retired.push(offer.id);
    }
    for (const deviceCount of wanted) missing.push({ machineId: state.machine.id, deviceCount });
  }
  await retireOffers(tx, retired);
  await insertOffers(tx, missing);
  await notifyMarket(
    tx,
    states.map(({ machine }) => machine.id),
  );
}
