import { invalid } from "../../../../base/errors.ts";
import type { MachineId, VolumeOfferId } from "../../../../base/ids.ts";
import type { Nanos } from "../../../../base/money.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { BYTES_PER_GB, readSize, toGb, type Listing, type Space } from "../offers/rules/listing.ts";
import { worsenings } from "../offers/listing-change.ts";
import {
  findVolumeOfferOfMachine,
  insertVolumeOffer,
  listVolumeOffersOf,
  unlistVolumeOffer,
  updateVolumeOffer,
  type VolumeOffer,
} from "./store.ts";
import { extendVolumes, sumRentedOfMachines } from "../volume-store.ts";

/** The space that is listed along with a machine. Undefined fields keep their value, or take their default. */
export type CompanionRequest = {
  readonly machineId: MachineId;
  /** 0 takes the space off the market. The default is half of the free disk. */
  readonly sizeGb: number | undefined;
  readonly priceNanosPerGbMonth: Nanos | undefined;
  readonly defaultPriceNanosPerGbMonth: Nanos;
  readonly capacityBytes: bigint;
  readonly freeBytes: bigint;
  readonly endAt: Date;
};

/**
 * Lists space of a machine together with the machine itself, until the same day. The caller holds the machine's lock.
 */
export async function listSpaceWith(tx: Tx, request: CompanionRequest): Promise<void> {
  const { machineId, sizeGb, endAt } = request;
  const current = await findVolumeOfferOfMachine(tx.db, machineId);
  if (sizeGb === 0) {
    if (current !== undefined) await unlistVolumeOffer(tx, current.id);
    return;
  }
  const rentedBytes = (await sumRentedOfMachines(tx.db, [machineId])).get(machineId) ?? 0n;
  const sizeBytes = planSize(request, current, rentedBytes);
  if (sizeBytes === undefined) return;
  const listing = {
    sizeBytes,
    priceNanosPerGbMonth:
      request.priceNanosPerGbMonth ?? current?.priceNanosPerGbMonth ?? request.defaultPriceNanosPerGbMonth,
    creditDiscountMaxPermille: current?.creditDiscountMaxPermille ?? 0,
    endAt,
  };
  await putListing(tx, { machineId, current, listing });
}

/**
 * Stores this as the machine's listing of space; returns its id. A listing whose terms became worse gets another id, so
 * that nobody rents by an id for more than the price that it was shown with. The caller holds the machine's lock.
 */
export async function putListing(
  tx: Tx,
  {
    machineId,
    current,
    listing,
  }: { readonly machineId: MachineId; readonly current: VolumeOffer | undefined; readonly listing: Listing },
): Promise<VolumeOfferId> {
  if (current !== undefined && worsenings(current, listing).length === 0) {
    await updateVolumeOffer(tx, current.id, listing);
    return current.id;
  }
  if (current !== undefined) await unlistVolumeOffer(tx, current.id, { isReplaced: true });
  return insertVolumeOffer(tx, machineId, listing);
}

/** Bytes to list; undefined when there is no space to offer and the request named no size. */
function planSize(
  { sizeGb, capacityBytes, freeBytes }: CompanionRequest,
  current: VolumeOffer | undefined,
  rentedBytes: bigint,
): bigint | undefined {
  if (sizeGb === undefined) {
    if (current !== undefined) return current.sizeBytes;
    const half = freeBytes / 2n;
    return half < BigInt(BYTES_PER_GB) ? undefined : rentedBytes + half;
  }
  const sizeBytes = readSize(sizeGb, "vol_size");
  if (sizeBytes > capacityBytes) {
    throw invalid("vol_size", `vol_size must not exceed the disk, which has ${toGb(capacityBytes)} GB`);
  }
  if (sizeBytes < rentedBytes) {
    throw invalid("vol_size", `vol_size must not be below the ${toGb(rentedBytes)} GB that are rented already`);
  }
  return sizeBytes;
}

/** Moves the end of the machine's listing of space, if there is one. The caller holds the machine's lock. */
export async function moveSpaceEnd(tx: Tx, machineId: MachineId, endAt: Date): Promise<void> {
  const current = await findVolumeOfferOfMachine(tx.db, machineId);
  if (current !== undefined) await putListing(tx, { machineId, current, listing: { ...current, endAt } });
}

/** Takes the machine's listing of space off the market, if there is one; what is rented of it stays. */
export async function unlistSpaceOf(tx: Tx, machineId: MachineId): Promise<void> {
  const current = await findVolumeOfferOfMachine(tx.db, machineId);
  if (current !== undefined) await unlistVolumeOffer(tx, current.id);
}

export type SpaceOf = Space & VolumeOffer;

/** The live listings of these machines, expired or not, with what is rented of their disks as volumes. */
export async function listSpaceOf(
  db: Reader,
  machineIds: readonly MachineId[],
): Promise<ReadonlyMap<MachineId, SpaceOf>> {
  const offers = await listVolumeOffersOf(db, machineIds);
  const rented = await sumRentedOfMachines(db, machineIds);
  return new Map(
    offers.map((offer) => [offer.machineId, { ...offer, rentedBytes: rented.get(offer.machineId) ?? 0n }]),
  );
}

/** True when a renter's data lies on the machine's own disk as a volume. */
export async function hasLocalVolumes(db: Reader, machineId: MachineId): Promise<boolean> {
  return (await listWithLocalVolumes(db, [machineId])).has(machineId);
}

/** Those of these machines on which somebody has a local volume. */
export async function listWithLocalVolumes(
  db: Reader,
  machineIds: readonly MachineId[],
): Promise<ReadonlySet<MachineId>> {
  return new Set((await sumRentedOfMachines(db, machineIds)).keys());
}

/**
 * Extends the volumes of a machine to the end of its listing, at their own prices, where these are at least the
 * listing's present price; returns how many.
 */
export async function extendLocalVolumes(tx: Tx, machineId: MachineId): Promise<number> {
  const listing = await findVolumeOfferOfMachine(tx.db, machineId);
  return listing === undefined ? 0 : extendVolumes(tx, { machineId }, listing);
}
