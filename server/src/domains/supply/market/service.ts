import type { MachineId, OfferId } from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { listScheduledMachines, notifyMarket } from "../hosts/index.ts";
import { offerSizes } from "./rules/allocation.ts";
import { availableCount, type MachineState } from "./rules/machine-state.ts";
import { areSameTerms, termsOf, worsenings, type OfferTerms } from "./offer-terms.ts";
import { insertOffers, listLiveGpuGrants, listPromisedOffers, retireOffers, updateOfferTerms } from "./store.ts";

/**
 * Reads the facts that decide which claims run on these machines. A caller that decides by them holds the machines' row
 * locks.
 */
export async function readMachineStates(
  { db }: { readonly db: Reader },
  machineIds: readonly MachineId[],
): Promise<ReadonlyMap<MachineId, MachineState>> {
  const machines = await listScheduledMachines(db, machineIds);
  const grants = Map.groupBy(await listLiveGpuGrants(db, machineIds), (grant) => grant.machineId);
  const offers = Map.groupBy(await listPromisedOffers(db, machineIds), (offer) => offer.machineId);
  return new Map(
    [...machines].map(([id, machine]) => [id, { machine, grants: grants.get(id) ?? [], offers: offers.get(id) ?? [] }]),
  );
}

/** Updates the offers of these machines after their GPU grants changed. */
export async function refreshOffers(tx: Tx, machineIds: readonly MachineId[]): Promise<void> {
  await alignOffers(tx, [...(await readMachineStates(tx, machineIds)).values()]);
}

/**
 * Updates offers from states that the caller has changed itself and whose row locks it holds. `rented` are their offers
 * that are used up, even if devices are left. An offer whose terms became worse is replaced by one with another id, so
 * that nobody rents by an id for more than the price that it was shown with; one whose terms became better keeps its id
 * and promises them.
 */
export async function alignOffers(
  tx: Tx,
  states: readonly MachineState[],
  rented: ReadonlySet<OfferId> = new Set(),
): Promise<void> {
  const gone: OfferId[] = [];
  const replaced: OfferId[] = [];
  const better: { id: OfferId; terms: OfferTerms }[] = [];
  const missing: { machineId: MachineId; deviceCount: number; terms: OfferTerms }[] = [];
  for (const state of states) {
    const { isListed, minChunk } = state.machine;
    const terms = termsOf(state.machine);
    const wanted = new Set(isListed ? offerSizes(availableCount(state), minChunk) : []);
    for (const offer of state.offers) {
      if (rented.has(offer.id) || !wanted.has(offer.deviceCount)) gone.push(offer.id);
      else if (worsenings(offer.terms, terms).length > 0) replaced.push(offer.id);
      else {
        wanted.delete(offer.deviceCount);
        if (!areSameTerms(offer.terms, terms)) better.push({ id: offer.id, terms });
      }
    }
    for (const deviceCount of wanted) missing.push({ machineId: state.machine.id, deviceCount, terms });
  }
  await retireOffers(tx, gone, { isReplaced: false });
  await retireOffers(tx, replaced, { isReplaced: true });
  await updateOfferTerms(tx, better);
  await insertOffers(tx, missing);
  await notifyMarket(
    tx,
    states.map(({ machine }) => machine.id),
  );
}
