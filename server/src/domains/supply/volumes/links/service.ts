import { invalid, notFound } from "../../../../base/errors.ts";
import { storageNanosPerHour } from "../../../../base/hourly-price.ts";
import { asId, MAX_ID, parseId, type MachineId, type VolumeId, type VolumeOfferId } from "../../../../base/ids.ts";
import { nanos, ZERO, type Nanos } from "../../../../base/money.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { refuseIncomplete } from "../clones/service.ts";
import type { Payer } from "../metering/credit.ts";
import { DEFAULT_SIZE_GB, readSize } from "../offers/rules/listing.ts";
import { rentLocalVolume, requireVolumeOffer } from "../local/service.ts";
import { findVolumeOffer } from "../local/store.ts";
import { DEFAULT_MOUNT_PATH, readMountPath } from "./rules/mount-path.ts";
import { listNetworkDiskMounts } from "../network/store.ts";
import type { VolumeInfo } from "../schema.ts";
import { toMount, type Mount } from "../service.ts";
import { findVolumeForUpdate, listVolumes, listVolumesByName, lockVolumes, type Volume } from "../volume-store.ts";

/** A `-v V.<volume>:<mount_path>` of the options: `volume` is an id or a name of one of the caller's volumes. */
export type OptionLink = { readonly volume: string; readonly mount_path: string };

export type VolumeLinkRequest = Payer & {
  /** The machine that the instance will run on. */
  readonly machineId: MachineId;
  readonly volumeInfo: VolumeInfo | undefined;
  readonly links: readonly OptionLink[];
};

/** A request to mount one existing volume, with the field that messages name. */
type Wish = { readonly volumeId: VolumeId; readonly mountPath: string; readonly field: string };

/**
 * Mounts of a new instance: the volume of `volume_info`, rented now when it says `create_new`, and those of the
 * options. Existing volumes must be the caller's (404) and reachable on the machine (400); they are locked, so that
 * none is deleted before `attachVolumes` of the same transaction. Paths are normal and differ.
 */
export async function planVolumeLink(tx: Tx, request: VolumeLinkRequest): Promise<readonly Mount[]> {
  const { volumeInfo, links } = request;
  const wishes: Wish[] = [];
  const mounts: Mount[] = [];
  if (volumeInfo !== undefined && volumeInfo.create_new !== true) {
    const field = "volume_info.mount_path";
    const mountPath = readMountPath(volumeInfo.mount_path ?? DEFAULT_MOUNT_PATH, field);
    wishes.push({ volumeId: asId<VolumeId>(volumeInfo.volume_id), mountPath, field: "volume_info.volume_id" });
  }
  for (const link of links) {
    const mountPath = readMountPath(link.mount_path, "env");
    wishes.push({ volumeId: await resolveVolume(tx, request, link.volume), mountPath, field: "env" });
  }
  // New space is rented first: its machine is locked before any volume, as everywhere.
  if (volumeInfo?.create_new === true) mounts.push(await rentAndMount(tx, request, volumeInfo));
  for (const wish of wishes.toSorted((a, b) => a.volumeId - b.volumeId)) {
    mounts.push(await mountExisting(tx, request, wish));
  }
  refuseDuplicates(mounts);
  return mounts;
}

/**
 * Locks, by id, all volumes that these links may mean, before credit is set aside, since volumes are locked before the
 * ledger. `planVolumeLink` reports what is wrong with a link.
 */
export async function lockLinkedVolumes(
  tx: Tx,
  requests: readonly Pick<VolumeLinkRequest, "userId" | "volumeInfo" | "links">[],
): Promise<void> {
  const ids: VolumeId[] = [];
  for (const { userId, volumeInfo, links } of requests) {
    const named = new Set(links.map(({ volume }) => volume));
    if (volumeInfo !== undefined && volumeInfo.create_new !== true) named.add(String(volumeInfo.volume_id));
    if (named.size === 0) continue;
    const own = await listVolumes(tx.db, userId);
    ids.push(...own.filter(({ id, name }) => named.has(String(id)) || named.has(name)).map(({ id }) => id));
  }
  if (ids.length > 0) await lockVolumes(tx, ids);
}

/**
 * Throws for a link that no machine can mount: another user's volume, or a forbidden path. For a rental whose machine
 * is not known yet; `planVolumeLink` checks again when it is.
 */
export async function requireVolumes(
  tx: Tx,
  request: Omit<VolumeLinkRequest, "machineId" | "capScopes">,
): Promise<void> {
  const { userId, volumeInfo, links } = request;
  const named = links.map(({ volume, mount_path: path }) => ({ volume, path, field: "env" }));
  if (volumeInfo !== undefined) {
    const path = volumeInfo.mount_path ?? DEFAULT_MOUNT_PATH;
    named.push({ volume: String(volumeInfo.volume_id), path, field: "volume_info.mount_path" });
  }
  for (const { volume, path, field } of named) {
    readMountPath(path, field);
    const id = parseId<VolumeId>(volume);
    const found =
      id === undefined ? await listVolumesByName(tx.db, userId, volume) : [await findVolumeForUpdate(tx, id, userId)];
    if (found.every((one) => one === undefined)) throw noSuchVolume(volume);
  }
}

/** Hourly price of the volume that is rented with an instance; zero without one, or when its offer is gone. */
export async function newVolumeNanosPerHour(db: Reader, info: VolumeInfo | undefined): Promise<Nanos> {
  if (info?.create_new !== true) return ZERO;
  const offer = await findVolumeOffer(db, asId<VolumeOfferId>(info.volume_id));
  if (offer === undefined) return ZERO;
  const diskBytes = readSize(info.size ?? DEFAULT_SIZE_GB, "volume_info.size");
  return nanos(storageNanosPerHour({ storageNanosPerGbMonth: offer.priceNanosPerGbMonth, diskBytes }));
}

async function rentAndMount(tx: Tx, request: VolumeLinkRequest, info: VolumeInfo): Promise<Mount> {
  const mountPath = readMountPath(info.mount_path ?? DEFAULT_MOUNT_PATH, "volume_info.mount_path");
  // Checked before it is locked: the caller locks its machine early, and a different machine must not be locked late.
  const known = await findVolumeOffer(tx.db, asId<VolumeOfferId>(info.volume_id));
  if (known !== undefined && known.machineId !== request.machineId) {
    const message = `volume_info.volume_id: volume offer ${known.id} is on another machine than the instance`;
    throw invalid("volume_info.volume_id", message);
  }
  const offer = await requireVolumeOffer(tx, info.volume_id);
  const { userId, capScopes } = request;
  const rent = { userId, capScopes, size: info.size, name: info.name, fieldPrefix: "volume_info." };
  const { id, sizeBytes } = await rentLocalVolume(tx, offer, rent);
  return toMount(id, mountPath, sizeBytes);
}

async function mountExisting(tx: Tx, request: VolumeLinkRequest, wish: Wish): Promise<Mount> {
  const volume = await findVolumeForUpdate(tx, wish.volumeId, request.userId);
  if (volume === undefined) throw noSuchVolume(wish.volumeId);
  await refuseIncomplete(tx, volume.id, wish.field);
  if (!(await isReachable(tx, volume, request.machineId))) {
    throw invalid(wish.field, `${wish.field}: volume ${volume.id} is not on the machine of the instance`);
  }
  return toMount(volume.id, wish.mountPath, volume.sizeBytes);
}

async function isReachable(tx: Tx, { place }: Volume, machineId: MachineId): Promise<boolean> {
  if (place.kind === "local") return place.machineId === machineId;
  const mounts = await listNetworkDiskMounts(tx.db, [place.networkDiskId]);
  return mounts.some((mount) => mount.machineId === machineId);
}

/**
 * Digits are an id; any other text is a name, and the caller must have a volume of that name that the machine reaches.
 */
async function resolveVolume(tx: Tx, request: VolumeLinkRequest, volume: string): Promise<VolumeId> {
  if (/^[1-9]\d{0,9}$/.test(volume) && Number(volume) <= MAX_ID) return asId<VolumeId>(Number(volume));
  const named = await listVolumesByName(tx.db, request.userId, volume);
  const reachable: Volume[] = [];
  for (const candidate of named) {
    if (await isReachable(tx, candidate, request.machineId)) reachable.push(candidate);
  }
  const [first, second] = reachable.length > 0 ? reachable : named;
  if (first === undefined) throw noSuchVolume(volume);
  if (second !== undefined) throw invalid("env", `env: several volumes are called ${volume}; name one by its id`);
  return first.id;
}

function noSuchVolume(volume: string | number) {
  return notFound("no_such_volume", `Volume ${volume} does not exist.`);
}

function refuseDuplicates(mounts: readonly Mount[]): void {
  const [paths, ids] = [new Set<string>(), new Set<number>()];
  for (const { volume_id: id, mount_path: path } of mounts) {
    if (paths.has(path)) throw invalid("volume_info", `Two volumes cannot be mounted at ${path}.`);
    if (ids.has(id)) throw invalid("volume_info", `Volume ${id} cannot be mounted twice in one instance.`);
    paths.add(path);
    ids.add(id);
  }
}
