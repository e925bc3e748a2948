import { invalid, notFound } from "../../../../base/errors.ts";
import { asId, type MachineId, type UserId, type VolumeId, type VolumeOfferId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { listFreeDiskBytes, listMachines, lockMachines, notifyMarket, readPriceCeilings } from "../../hosts/index.ts";
import { extendLocalVolumes, listSpaceOf, putListing } from "./companion-service.ts";
import { holdForVolume, type Payer } from "../metering/credit.ts";
import { notifyVolumes } from "../machines/store.ts";
import {
  BYTES_PER_GB,
  DEFAULT_SIZE_GB,
  freeBytes,
  LOCAL_DEFAULTS,
  planListing,
  readSize,
  readVolumeName,
  refuseBeyond,
  refuseImmense,
  toGb,
  type ListedSpace,
  type Space,
} from "../offers/rules/listing.ts";
import {
  findReplacedVolumeOffer,
  findVolumeOffer,
  findVolumeOfferOfMachine,
  insertVolumeOffer,
  listNeverListed,
  unlistVolumeOffer,
  type VolumeOffer,
} from "./store.ts";
import { listingIsReplaced } from "../offers/listing-change.ts";
import type { ListVolumeBody } from "../schema.ts";
import { dollarsPerHour } from "../views.ts";
import { insertVolume, sumRentedOfMachines } from "../volume-store.ts";

const DAY_MS = 86_400_000;

/** Lists space of the caller's machines, or changes the sent fields of their live listings; all of them or none. */
export async function listLocalSpace(tx: Tx, userId: UserId, request: ListVolumeBody): Promise<readonly ListedSpace[]> {
  const asked = [request.machines ?? request.machine ?? []].flat();
  if (asked.length === 0) throw invalid("machine", "machine or machines must name at least one machine");
  if (request.hidden_listing === true) {
    throw invalid("hidden_listing", "hidden_listing must be false: searches find every listing");
  }
  const ids = [...new Set(asked)].map((id) => asId<MachineId>(id));
  await lockMachines(tx, ids);
  const machines = await listMachines(tx.db, ids);
  const rented = await sumRentedOfMachines(tx.db, ids);
  const ceilings = await readPriceCeilings(tx.db);
  const listed: Omit<ListedSpace, "extended">[] = [];
  for (const id of ids) {
    const machine = machines.get(id);
    if (machine?.hostId !== userId) throw notFound("no_such_machine", `Machine ${id} does not exist.`);
    const current = await findVolumeOfferOfMachine(tx.db, id);
    const listing = planListing(request, {
      current,
      defaults: LOCAL_DEFAULTS,
      capacityBytes: BigInt(machine.facts.disk_bytes),
      rentedBytes: rented.get(id) ?? 0n,
      now: tx.now,
      ceilings,
    });
    const offerId = await putListing(tx, { machineId: id, current, listing });
    listed.push({ machineId: id, offerId, isNew: offerId !== current?.id, sizeBytes: listing.sizeBytes });
  }
  const results: ListedSpace[] = [];
  for (const one of listed) results.push({ ...one, extended: await extendLocalVolumes(tx, one.machineId) });
  await notifyMarket(tx, ids);
  return results;
}

/** Simulated hosts list this part of their disks for a year. */
const INVENTED_PART = 4n;
const INVENTED_DAYS = 365;

/** Lists space of those of these simulated machines that never listed any. The caller holds the machines' locks. */
export async function inventSpace(tx: Tx, machineIds: readonly MachineId[]): Promise<void> {
  const ids = await listNeverListed(tx.db, machineIds);
  if (ids.length === 0) return;
  const endAt = new Date(tx.now.getTime() + INVENTED_DAYS * DAY_MS);
  for (const machine of (await listMachines(tx.db, ids)).values()) {
    const gigabytes = BigInt(machine.facts.disk_bytes) / BigInt(BYTES_PER_GB) / INVENTED_PART;
    if (gigabytes === 0n) continue;
    await insertVolumeOffer(tx, machine.id, {
      sizeBytes: gigabytes * BigInt(BYTES_PER_GB),
      priceNanosPerGbMonth: machine.priceDiskNanosPerGbMonth,
      creditDiscountMaxPermille: 0,
      endAt,
    });
  }
  await notifyMarket(tx, ids);
}

/** Takes the caller's listing off the market; volumes rented of it stay. */
export async function unlistLocalSpace(tx: Tx, userId: UserId, offerId: VolumeOfferId): Promise<void> {
  const offer = await findVolumeOffer(tx.db, offerId);
  const machine = offer && (await listMachines(tx.db, [offer.machineId])).get(offer.machineId);
  if (machine?.hostId !== userId) throw invalid("id", "Volume listing does not exist");
  if (!(await unlistVolumeOffer(tx, offerId))) throw invalid("id", "Volume listing does not exist");
  await notifyMarket(tx, [machine.id]);
}

export type LocalRent = Payer & {
  /** GB as a number, or bytes as a bigint; 15 GB when undefined. */
  readonly size: number | bigint | undefined;
  readonly name: string | undefined;
  /** Prefix of the request's fields in messages, such as `volume_info.`. */
  readonly fieldPrefix: string;
};

/**
 * An open local listing, read while no other request rents space of its machine; throws `not_found` when there is none,
 * and `gone` when its terms became worse since it was shown.
 */
export async function requireVolumeOffer(tx: Tx, offerId: number): Promise<VolumeOffer> {
  const known = await findVolumeOffer(tx.db, asId<VolumeOfferId>(offerId));
  if (known !== undefined) await lockMachines(tx, [known.machineId]);
  // Read again under the lock, which fixes its size and its rented space.
  const offer = known && (await findVolumeOffer(tx.db, known.id));
  const replaced = offer ?? (await findReplacedVolumeOffer(tx.db, asId<VolumeOfferId>(offerId)));
  if (offer === undefined && replaced !== undefined) {
    throw listingIsReplaced(replaced, await findVolumeOfferOfMachine(tx.db, replaced.machineId));
  }
  if (offer === undefined || offer.endAt <= tx.now) {
    throw notFound("no_such_volume_offer", `Volume offer ${offerId} is not available.`);
  }
  return offer;
}

/** Rents a part of a listing whose machine is locked (`requireVolumeOffer`). */
export async function rentLocalVolume(
  tx: Tx,
  offer: VolumeOffer,
  { userId, capScopes, size, name, fieldPrefix }: LocalRent,
): Promise<{ readonly id: VolumeId; readonly sizeBytes: bigint }> {
  const storedName = readVolumeName(name, `${fieldPrefix}name`);
  const space = await readSpace(tx, offer);
  const sizeBytes = typeof size === "bigint" ? size : readSize(size ?? DEFAULT_SIZE_GB, `${fieldPrefix}size`);
  refuseBeyond(space, sizeBytes, `${fieldPrefix}size`);
  refuseImmense(sizeBytes, offer.priceNanosPerGbMonth, `${fieldPrefix}size`);
  const { priceNanosPerGbMonth } = offer;
  const holdId = await holdForVolume(tx, { userId, capScopes }, { sizeBytes, priceNanosPerGbMonth });
  const id = await insertVolume(tx, {
    userId,
    holdId,
    capScopes,
    place: { kind: "local", machineId: offer.machineId, offerId: offer.id },
    name: storedName,
    sizeBytes,
    priceNanosPerGbMonth: offer.priceNanosPerGbMonth,
    endAt: offer.endAt,
  });
  await notifyVolumes(tx, [offer.machineId]);
  await notifyMarket(tx, [offer.machineId]);
  return { id, sizeBytes };
}

async function readSpace(tx: Tx, { machineId, sizeBytes }: VolumeOffer): Promise<Space> {
  const rented = await sumRentedOfMachines(tx.db, [machineId]);
  const free = await listFreeDiskBytes(tx.db, [machineId]);
  return { sizeBytes, rentedBytes: rented.get(machineId) ?? 0n, diskFreeBytes: free.get(machineId) };
}

/** Rentable space on these machines' disks, as their own offers show it; machines without any are missing. */
export async function listRentableSpace(db: Reader, machineIds: readonly MachineId[], now: Date) {
  const spaces = await listSpaceOf(db, machineIds);
  const free = await listFreeDiskBytes(db, [...spaces.keys()]);
  return new Map(
    [...spaces].flatMap(([machineId, space]) => {
      const bytes = freeBytes({ ...space, diskFreeBytes: free.get(machineId) });
      if (bytes === 0n || space.endAt <= now) return [];
      const dollars = dollarsPerHour(space.priceNanosPerGbMonth, bytes);
      return [[machineId, { askId: space.id, sizeGb: toGb(bytes), dollarsPerHour: dollars }] as const];
    }),
  );
}
