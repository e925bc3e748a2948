import { type AppError, forbidden, invalid, notFound } from "../../../../base/errors.ts";
import {
  asId,
  type MachineId,
  type NetworkDiskId,
  type NetworkVolumeOfferId,
  type UserId,
} from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { findUserByEmailOrId, keepAccounts, requireRoom } from "../../../people/accounts/index.ts";
import { describeMachines, listMachines, readPriceCeilings, type Machine } from "../../hosts/index.ts";
import { holdForVolume, type Payer } from "../metering/credit.ts";
import {
  NETWORK_DEFAULTS,
  planListing,
  planRent,
  readSize,
  readVolumeName,
  refuseImmense,
  type Listing,
} from "../offers/rules/listing.ts";
import { listingIsReplaced, worsenings } from "../offers/listing-change.ts";
import { readMountPath } from "../links/rules/mount-path.ts";
import {
  findNetworkDiskForUpdate,
  findNetworkVolumeOffer,
  findReplacedNetworkVolumeOffer,
  findNetworkVolumeOfferOfDisk,
  insertNetworkDisk,
  insertNetworkVolumeOffer,
  listNetworkDiskMounts,
  listNetworkDisks,
  listNetworkVolumeOffers,
  lockNetworkDisk,
  replaceNetworkVolumeOffer,
  unlistNetworkVolumeOffer,
  updateNetworkVolumeOffer,
  upsertNetworkDiskMount,
} from "./store.ts";
import type { CreateDiskBody, ListNetworkVolumeBody, MountNetworkDiskBody, RentBody } from "../schema.ts";
import { networkDiskRecords, spaceRow, type SpaceRow } from "../views.ts";
import { countNetworkDisks } from "../room-store.ts";
import { extendVolumes, insertVolume, sumRentedOfDisks } from "../volume-store.ts";

/** The error for a `disk_id` that cannot name a disk. */
export function invalidDiskId(): AppError {
  return invalid("disk_id", "Invalid disk ID");
}

function notOwned(): AppError {
  return forbidden("No network disk with that ID is associated with the user");
}

/** Creates the disk's listing, or changes the sent fields of the live one. */
export async function listNetworkDisk(
  tx: Tx,
  userId: UserId,
  request: ListNetworkVolumeBody,
): Promise<{ readonly offerId: NetworkVolumeOfferId; readonly isNew: boolean; readonly listing: Listing }> {
  const disk = await findNetworkDiskForUpdate(tx, asId<NetworkDiskId>(request.disk_id), userId);
  if (disk === undefined) throw notOwned();
  const current = await findNetworkVolumeOfferOfDisk(tx.db, disk.id);
  const listing = planListing(request, {
    current,
    defaults: NETWORK_DEFAULTS,
    capacityBytes: disk.sizeBytes,
    rentedBytes: await rentedOf(tx, disk.id),
    now: tx.now,
    ceilings: await readPriceCeilings(tx.db),
  });
  await extendVolumes(tx, { networkDiskId: disk.id }, listing);
  if (current !== undefined && worsenings(current, listing).length === 0) {
    await updateNetworkVolumeOffer(tx, current.id, listing);
    return { offerId: current.id, isNew: false, listing };
  }
  // A new id, so that nobody rents by an id for more than the price that it was shown with.
  if (current !== undefined) await replaceNetworkVolumeOffer(tx, current.id);
  return { offerId: await insertNetworkVolumeOffer(tx, disk.id, listing), isNew: current === undefined, listing };
}

/** Takes the caller's listing off the market; volumes rented of it stay. */
export async function unlistNetworkDisk(tx: Tx, userId: UserId, offerId: NetworkVolumeOfferId): Promise<void> {
  if (!(await unlistNetworkVolumeOffer(tx, offerId, userId))) throw invalid("id", "Volume listing does not exist");
}

/** Rents a part of a network disk; 404 when the listing is unknown, unlisted or past its end, 410 when it was replaced. */
export async function rentNetworkVolume(tx: Tx, payer: Payer, request: RentBody) {
  const name = readVolumeName(request.name, "name");
  const known = await findNetworkVolumeOffer(tx.db, asId<NetworkVolumeOfferId>(request.id));
  if (known !== undefined) await lockNetworkDisk(tx, known.networkDiskId);
  // Read again under the lock, which fixes its size and its rented space.
  const offer = known && (await findNetworkVolumeOffer(tx.db, known.id));
  const replaced = offer ?? (await findReplacedNetworkVolumeOffer(tx.db, asId<NetworkVolumeOfferId>(request.id)));
  if (offer === undefined && replaced !== undefined) {
    throw listingIsReplaced(replaced, await findNetworkVolumeOfferOfDisk(tx.db, replaced.networkDiskId));
  }
  if (offer === undefined || offer.endAt <= tx.now) {
    throw notFound("no_such_volume_offer", `Network volume offer ${request.id} is not available.`);
  }
  const space = { sizeBytes: offer.sizeBytes, rentedBytes: await rentedOf(tx, offer.networkDiskId) };
  const sizeBytes = planRent(request.size, space, "size");
  refuseImmense(sizeBytes, offer.priceNanosPerGbMonth, "size");
  const { priceNanosPerGbMonth } = offer;
  const holdId = await holdForVolume(tx, payer, { sizeBytes, priceNanosPerGbMonth });
  const id = await insertVolume(tx, {
    ...payer,
    holdId,
    place: { kind: "network", networkDiskId: offer.networkDiskId, offerId: offer.id },
    name,
    sizeBytes,
    priceNanosPerGbMonth: offer.priceNanosPerGbMonth,
    endAt: offer.endAt,
  });
  return { id, sizeBytes, offer };
}

async function rentedOf(tx: Tx, diskId: NetworkDiskId): Promise<bigint> {
  return (await sumRentedOfDisks(tx.db, [diskId])).get(diskId) ?? 0n;
}

/** Open network-volume listings with space left, for a search. */
export async function listOfferedNetworkSpace(db: Reader, now: Date): Promise<readonly SpaceRow[]> {
  const offers = await listNetworkVolumeOffers(db, now);
  const diskIds = offers.map((offer) => offer.networkDiskId);
  const [rented, mounts] = [await sumRentedOfDisks(db, diskIds), await listNetworkDiskMounts(db, diskIds)];
  const mountsOf = Map.groupBy(mounts, (mount) => mount.networkDiskId);
  const machines = await describeMachines(db, [...new Set(mounts.map((mount) => mount.machineId))]);
  return offers.flatMap((offer) => {
    const space = { sizeBytes: offer.sizeBytes, rentedBytes: rented.get(offer.networkDiskId) ?? 0n };
    if (space.rentedBytes >= space.sizeBytes) return [];
    const [mount] = mountsOf.get(offer.networkDiskId) ?? [];
    const machine = mount && machines.get(mount.machineId);
    return spaceRow({ id: offer.id, listing: offer, space, hostId: offer.ownerId, machine });
  });
}

/** The caller's network disks, grouped by the machines that mount them. */
export async function showNetworkDisks(db: Reader, userId: UserId) {
  const disks = await listNetworkDisks(db, userId);
  const ids = disks.map((disk) => disk.id);
  const [mounts, rented] = [await listNetworkDiskMounts(db, ids), await sumRentedOfDisks(db, ids)];
  return networkDiskRecords(disks, mounts, rented);
}

/** Stores where the caller's machines mount a disk of the caller, and creates the disk when the request names none. */
export async function mountNetworkDisk(tx: Tx, userId: UserId, request: MountNetworkDiskBody): Promise<NetworkDiskId> {
  const mountPath = readMountPath(request.mount_point, "mount_point");
  const machineIds = [...new Set(request.machines)].map((id) => asId<MachineId>(id));
  const machines = await listMachines(tx.db, machineIds);
  const foreign = machineIds.find((id) => machines.get(id)?.hostId !== userId);
  if (foreign !== undefined) throw notFound("no_such_machine", `Machine ${foreign} does not exist.`);
  const diskId = await requireOwnDisk(tx, userId, request, [...machines.values()]);
  for (const machineId of machineIds) {
    await upsertNetworkDiskMount(tx, { networkDiskId: diskId, machineId, mountPath });
  }
  return diskId;
}

/** Bounded because a disk is never deleted, and every search reads all of them. */
const NETWORK_DISKS_MAX = 1_000;

async function requireOwnDisk(
  tx: Tx,
  userId: UserId,
  request: MountNetworkDiskBody,
  machines: readonly Machine[],
): Promise<NetworkDiskId> {
  if (request.disk_id === undefined) {
    const sizeBytes = request.size === undefined ? smallestDisk(machines) : readSize(request.size, "size");
    await requireRoomForDisk(tx, userId);
    return insertNetworkDisk(tx, { userId, sizeBytes });
  }
  const disk = await findNetworkDiskForUpdate(tx, asId<NetworkDiskId>(request.disk_id), userId);
  if (disk === undefined) throw notOwned();
  return disk.id;
}

/**
 * The size of a new disk whose owner gives none, as published clients do: no machine that mounts it has a smaller disk.
 * An owner who would overstate it by that could as well have given the size.
 */
function smallestDisk(machines: readonly Machine[]): bigint {
  const bytes = Math.floor(Math.min(...machines.map(({ facts }) => facts.disk_bytes)));
  if (bytes >= 1) return BigInt(bytes);
  throw invalid("size", "size is required: a machine does not say how large its disk is");
}

function requireRoomForDisk(tx: Tx, userId: UserId): Promise<void> {
  const count = (counted: Tx) => countNetworkDisks(counted, userId);
  const advice = "Name one of them with disk_id.";
  return requireRoom(tx, userId, { count, max: NETWORK_DISKS_MAX, field: "size", what: "network disks", advice });
}

/** Gives a user a network disk (administrators). */
export async function createNetworkDisk(tx: Tx, request: CreateDiskBody) {
  const { email, user_id: userId } = request;
  if ((email === undefined) === (userId === undefined)) throw invalid("email", "email or user_id is required");
  const sizeBytes = readSize(request.size, "size");
  const owner = await findUserByEmailOrId(tx.db, email ?? String(userId));
  if (owner === undefined || !(await keepAccounts(tx, [owner.id])).has(owner.id)) {
    throw notFound("no_such_user", `There is no user ${email ?? userId}.`);
  }
  await requireRoomForDisk(tx, owner.id);
  return { diskId: await insertNetworkDisk(tx, { userId: owner.id, sizeBytes }), owner, sizeBytes };
}
