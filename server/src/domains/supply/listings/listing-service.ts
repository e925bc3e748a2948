import { invalid, unprocessable } from "../../../base/errors.ts";
import { asId, type MachineId, type UserId } from "../../../base/ids.ts";
import { invariant } from "../../../base/invariant.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Database } from "../../../db/connect.ts";
import { withTransaction, type Tx } from "../../../db/transaction.ts";
import type { Loop } from "../../../base/loop-driver.ts";
import { listEndingRentals, offerPriceIncreases } from "../../money/deposits/index.ts";
import {
  listHosted,
  listMachineUnder,
  listRollingMachines,
  rollListingEnds,
  setMinBid,
} from "../hosts/for-listings.ts";
import { listScheduledMachines, lockMachines, readPriceCeilings, unlistMachine, type Terms } from "../hosts/index.ts";
import { extendRentals } from "../../rental/instances/index.ts";
import { followTerms, reschedule, type Actor } from "../../rental/instances/for-listings.ts";
import { freeDiskBytes, listLiveOffers, refreshOffers } from "../market/index.ts";
import { extendLocalVolumes, listSpaceWith, moveSpaceEnd, unlistSpaceOf } from "../volumes/for-listings.ts";
import { isExtendedBy, planTerms, readPrice, readVolumePrice, type ListingRequest } from "./rules/listing.ts";
import {
  lockOwnMachine,
  lockOwnMachines,
  noSuchMachine,
  notAuthorized,
  toMachineId,
  type HostRequest,
} from "./own-machine.ts";

/** The rentals on a machine after it was listed again. */
export type Listed = {
  readonly machineId: MachineId;
  readonly endAt: Date;
  /** Rentals that were extended to the new end, at their own prices. */
  readonly extended: number;
  /** Renters who are asked to pay more, in return for a later end. */
  readonly increases: number;
};

/** Lists these machines, or changes their terms, as `listMachine` does: all of them or none. */
export async function listMachines(
  tx: Tx,
  { hostId, machineIds }: { readonly hostId: UserId; readonly machineIds: readonly number[] },
  listing: ListingRequest,
): Promise<readonly Listed[]> {
  const asked = [...new Set(machineIds)];
  const own = await lockOwnMachines(
    tx,
    hostId,
    asked.map((id) => asId<MachineId>(id)),
  );
  const foreign = asked.find((id) => !own.has(id));
  if (foreign !== undefined) throw notAuthorized(foreign);
  const listed: Listed[] = [];
  for (const machineId of asked) listed.push(await listMachine(tx, { hostId, machineId }, listing));
  return listed;
}

/**
 * Lists a machine on the market, or changes its terms for new renters. Present renters keep the agreed price and at
 * least the agreed end: it moves to a later one where nothing became dearer.
 */
async function listMachine(tx: Tx, request: HostRequest, listing: ListingRequest): Promise<Listed> {
  const { id, hostId, terms: current } = await lockOwnMachine(tx, request, notAuthorized);
  const machine = (await listScheduledMachines(tx.db, [id])).get(id);
  invariant(machine !== undefined, `machine ${id} went although it was locked`);
  const ceilings = await readPriceCeilings(tx.db);
  const terms = planTerms(listing, current, { deviceCount: machine.presentCount, now: tx.now, ceilings });
  await listMachineUnder(tx, id, terms);
  await listSpaceWith(tx, {
    machineId: id,
    sizeGb: listing.vol_size,
    priceNanosPerGbMonth: listing.vol_price === undefined ? undefined : readVolumePrice(listing.vol_price, ceilings),
    defaultPriceNanosPerGbMonth: terms.priceDiskNanosPerGbMonth,
    capacityBytes: BigInt(machine.facts.disk_bytes),
    freeBytes: freeDiskBytes({ machine }),
    endAt: terms.offerEndAt,
  });
  const extended = await extendAll(tx, { id, terms, actor: `user:${hostId}` });
  const increases = await offerPriceIncreases(tx, { machineId: id, hostId, newTerms: terms });
  await followTerms(tx, id);
  return { machineId: id, endAt: terms.offerEndAt, extended, increases };
}

/** Extends the rentals of a machine to the end of its listing, where nothing became dearer; returns how many. */
async function extendAll(
  tx: Tx,
  { id, terms, actor }: { readonly id: MachineId; readonly terms: Terms; readonly actor: Actor },
): Promise<number> {
  const rentals = await listEndingRentals(tx.db, id);
  const extendedIds = rentals.filter((rental) => isExtendedBy(rental, terms)).map((rental) => rental.id);
  await extendRentals(tx, extendedIds, { endAt: terms.offerEndAt, actor });
  return extendedIds.length + (await extendLocalVolumes(tx, id));
}

const ROLLED_PER_RUN = 200;

/** Moves the ends of listings on, and extends their rentals to the new ends. */
export function rollListingsLoop({ database, clock }: { readonly database: Database; readonly clock: Clock }): Loop {
  return {
    name: "roll-listings",
    description: "Moves on the ends of listings without a fixed end, and extends their rentals.",
    everyMs: 60_000,
    run: async () => {
      const counts = { machines: 0, extended: 0 };
      for (const id of await listRollingMachines(database.kysely, clock.now(), ROLLED_PER_RUN)) {
        const extended = await withTransaction(database, clock, (tx) => rollListing(tx, id));
        if (extended === undefined) continue;
        counts.machines += 1;
        counts.extended += extended;
      }
      return counts;
    },
  };
}

/** Number of extended rentals; undefined when the listing was no longer due. */
async function rollListing(tx: Tx, id: MachineId): Promise<number | undefined> {
  await lockMachines(tx, [id]);
  if ((await rollListingEnds(tx, [id])).length === 0) return undefined;
  const [machine] = await listHosted(tx.db, { ids: [id] });
  invariant(machine !== undefined, `machine ${id} went although it was locked`);
  await moveSpaceEnd(tx, id, machine.terms.offerEndAt);
  const extended = await extendAll(tx, { id, terms: machine.terms, actor: "rule" });
  await refreshOffers(tx, [id]);
  return extended;
}

/** Takes a machine and its space off the market. Present rentals go on. */
export async function unlist(tx: Tx, request: HostRequest): Promise<void> {
  const { id } = await lockOwnMachine(tx, request);
  await unlistMachine(tx, id);
  await unlistSpaceOf(tx, id);
  await refreshOffers(tx, [id]);
}

/** Changes the minimum bid; instances with lower bids get an eviction notice. */
export async function changeMinBid(tx: Tx, request: HostRequest, dollars: number): Promise<void> {
  const minBid = readPrice(dollars, "price");
  const { id, terms } = await lockOwnMachine(tx, request, notAuthorized);
  if (minBid > terms.priceDeviceNanosPerHour) {
    throw unprocessable(
      "price",
      "The minimum bid must not be above the price of a GPU, since a renter who pays that price is never evicted.",
    );
  }
  await setMinBid(tx, id, minBid);
  await followTerms(tx, id);
}

/** The offers of a machine after they were built again. */
export type Defragmented = {
  readonly machineId: MachineId;
  readonly sizes: readonly number[];
  /** Number of offers before. */
  readonly earlierCount: number;
  readonly newCount: number;
};

const MACHINES_MAX = 1000;

/**
 * Builds the offers of these machines again from the available devices. An offer may use any free devices of a machine,
 * and devices of bids count as available: nothing needs to be moved for a large offer to exist.
 */
export async function defragment(
  tx: Tx,
  hostId: UserId,
  machineIds: readonly number[],
): Promise<readonly Defragmented[]> {
  if (machineIds.length > MACHINES_MAX) throw invalid("machine_ids", `machine_ids must be at most ${MACHINES_MAX}`);
  const ids = [...new Set(machineIds)].map((machineId) => {
    const id = toMachineId(machineId);
    if (id === undefined) throw noSuchMachine(machineId);
    return id;
  });
  const own = new Set((await listHosted(tx.db, { ids })).flatMap((one) => (one.hostId === hostId ? [one.id] : [])));
  const foreign = ids.find((id) => !own.has(id));
  if (foreign !== undefined) throw noSuchMachine(foreign);
  await lockMachines(tx, ids);
  const earlier = await listLiveOffers(tx.db, ids);
  const before = new Set(earlier.map((offer) => offer.id));
  await reschedule(tx, ids);
  await refreshOffers(tx, ids);
  const after = Map.groupBy(await listLiveOffers(tx.db, ids), (offer) => offer.machineId);
  return ids.map((machineId) => {
    const offers = after.get(machineId) ?? [];
    const sizes = offers.map((offer) => offer.deviceCount).toSorted((a, b) => a - b);
    const earlierCount = earlier.filter((offer) => offer.machineId === machineId).length;
    return { machineId, sizes, earlierCount, newCount: offers.filter((offer) => !before.has(offer.id)).length };
  });
}
