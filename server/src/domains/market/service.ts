import type { MachineId } from "../../base/ids.ts";
import type { Tx } from "../../db/transaction.ts";
import { listMachines } from "../hosts/index.ts";
import { offerSizes } from "./allocation.ts";
import { availableCount, type MachineState } from "./machine-state.ts";
import { insertOffers, listLiveLeases, listLiveOffers, notifyMarket, retireOffers, type LiveOffer } from "./store.ts";

/** Reads everything that decides who may run on these machines. The caller holds their row locks. */
export async function readMachineStates(
  tx: Tx,
  machineIds: readonly MachineId[],
): Promise<ReadonlyMap<MachineId, MachineState>> {
  const machines = await listMachines(tx.db, machineIds);
  const leases = Map.groupBy(await listLiveLeases(tx.db, machineIds), (lease) => lease.machineId);
  const offers = Map.groupBy(await listLiveOffers(tx.db, machineIds), (offer) => offer.machineId);
  return new Map(
    [...machines].map(([id, machine]) => [id, { machine, leases: leases.get(id) ?? [], offers: offers.get(id) ?? [] }]),
  );
}

/** Brings the offers of these machines in line with what is available, after their leases changed. */
export async function refreshOffers(tx: Tx, machineIds: readonly MachineId[]): Promise<void> {
  const states = await readMachineStates(tx, machineIds);
  const retired: LiveOffer[] = [];
  const missing: { machineId: MachineId; deviceCount: number }[] = [];
  for (const [machineId, state] of states) {
    const wanted = new Set(offerSizes(availableCount(state), state.machine.minChunk));
    for (const offer of state.offers) {
      if (!wanted.delete(offer.deviceCount)) retired.push(offer);
    }
    for (const deviceCount of wanted) missing.push({ machineId, deviceCount });
  }
  await retireOffers(
    tx,
    retired.map((offer) => offer.id),
  );
  await insertOffers(tx, missing);
  await notifyMarket(tx, machineIds);
}
