import { sql } from "kysely";
import type {
  InstanceId,
  MachineId,
  NetworkDiskId,
  NetworkVolumeOfferId,
  UserId,
  VolumeId,
  VolumeOfferId,
} from "../../../base/ids.ts";
import { invariant } from "../../../base/invariant.ts";
import { nanos, type Nanos } from "../../../base/money.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { parseCapScope, type CapScope, type HoldId } from "../../money/ledger/index.ts";

/** Place of a volume's data: one machine's own disk, or a network disk. */
type Place =
  | { readonly kind: "local"; readonly machineId: MachineId; readonly offerId: VolumeOfferId }
  | {
      readonly kind: "network";
      readonly networkDiskId: NetworkDiskId;
      readonly offerId: NetworkVolumeOfferId;
    };

export type NewVolume = {
  readonly userId: UserId;
  /** Cap scopes that its spending counts in, besides its account's. */
  readonly capScopes: readonly CapScope[];
  readonly place: Place;
  /** Empty when the owner gave no name. */
  readonly name: string;
  readonly sizeBytes: bigint;
  readonly priceNanosPerGbMonth: Nanos;
  readonly endAt: Date;
  /** Hold for the cost of its first hours. */
  readonly holdId: HoldId | undefined;
};

export type Volume = Omit<NewVolume, "holdId"> & {
  readonly id: VolumeId;
  readonly createdAt: Date;
  /** Used bytes that its host last reported. */
  readonly usedBytes: bigint;
  /** Problem that its host reported; empty without one. */
  readonly problem: string;
};

export type Attachment = {
  readonly volumeId: VolumeId;
  readonly instanceId: InstanceId;
  readonly mountPath: string;
  readonly sizeBytes: bigint;
  readonly usedBytes: bigint;
};

export async function insertVolume(tx: Tx, volume: NewVolume): Promise<VolumeId> {
  const { place } = volume;
  const row = await tx.db
    .insertInto("volumes")
    .values({
      user_id: volume.userId,
      cap_scopes: [...volume.capScopes],
      machine_id: place.kind === "local" ? place.machineId : null,
      volume_offer_id: place.kind === "local" ? place.offerId : null,
      network_disk_id: place.kind === "network" ? place.networkDiskId : null,
      network_volume_offer_id: place.kind === "network" ? place.offerId : null,
      name: volume.name,
      size_bytes: volume.sizeBytes,
      hold_id: volume.holdId ?? null,
      price_nanos_per_gb_month: volume.priceNanosPerGbMonth,
      end_at: volume.endAt,
      created_at: tx.now,
      // Charged from now on; a volume that is filled first is charged once it is full (`awaitFilling`).
      metered_from_at: tx.now,
      storage_charged_until_at: tx.now,
      settle_at: volume.priceNanosPerGbMonth > 0n ? tx.now : null,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

export async function listVolumes(db: Reader, userId: UserId): Promise<readonly Volume[]> {
  const rows = await selectVolumes(db).where("user_id", "=", userId).orderBy("id").execute();
  return rows.map(toVolume);
}

/** Locks a volume if it belongs to this user: attaching and deleting exclude each other. */
export async function findVolumeForUpdate(tx: Tx, id: VolumeId, userId: UserId): Promise<Volume | undefined> {
  const row = await selectVolumes(tx.db)
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .forUpdate()
    .executeTakeFirst();
  return row && toVolume(row);
}

/** The user's volumes of this name. */
export async function listVolumesByName(db: Reader, userId: UserId, name: string): Promise<readonly Volume[]> {
  const rows = await selectVolumes(db).where("user_id", "=", userId).where("name", "=", name).orderBy("id").execute();
  return rows.map(toVolume);
}

/** Volumes that ended before this time, locked; those that other transactions have locked are skipped. */
export async function lockEndedVolumes(tx: Tx, before: Date, limit: number): Promise<readonly Volume[]> {
  const rows = await selectVolumes(tx.db)
    .where("end_at", "<=", before)
    .where((eb) => {
      const attachments = eb.selectFrom("volume_attachments").select("instance_id");
      return eb.not(eb.exists(attachments.whereRef("volume_attachments.volume_id", "=", "volumes.id")));
    })
    .orderBy("end_at")
    .limit(limit)
    .forUpdate()
    .skipLocked()
    .execute();
  return rows.map(toVolume);
}

/**
 * The time of the last settlement of a deleted volume: it is charged until its owner deleted it, and not after that.
 */
const LAST_SETTLEMENT = (tx: Tx) => sql<Date | null>`case when settle_at is not null then ${tx.now}::timestamptz end`;

/** Now, or the time up to which it is charged when a settlement with a later clock came first. */
const DELETING_AT = (tx: Tx) => sql<Date>`greatest(${tx.now}::timestamptz, storage_charged_until_at)`;

/** Removes a volume from its owner's account; its space stays taken until `buryVolumes`. */
export async function markVolumeDeleting(tx: Tx, id: VolumeId): Promise<void> {
  await tx.db
    .updateTable("volumes")
    .set({ deleting_at: DELETING_AT(tx), settle_at: LAST_SETTLEMENT(tx) })
    .where("id", "=", id)
    .execute();
}

/** Ends a volume of which no host has any data. */
export async function markVolumeDeleted(tx: Tx, id: VolumeId): Promise<void> {
  await tx.db
    .updateTable("volumes")
    .set({ deleting_at: DELETING_AT(tx), deleted_at: DELETING_AT(tx), settle_at: LAST_SETTLEMENT(tx) })
    .where("id", "=", id)
    .execute();
}

/** Rented space of each network disk; disks without volumes are missing. */
export async function sumRentedOfDisks(
  db: Reader,
  ids: readonly NetworkDiskId[],
): Promise<ReadonlyMap<NetworkDiskId, bigint>> {
  const rows = await db
    .selectFrom("volumes")
    .select(["network_disk_id", sql<bigint>`sum(size_bytes)::bigint`.as("rented_bytes")])
    .where("deleted_at", "is", null)
    .where("network_disk_id", "=", sql<NetworkDiskId>`any(${ids}::integer[])`)
    .groupBy("network_disk_id")
    .execute();
  return new Map(
    rows.flatMap((row) => (row.network_disk_id === null ? [] : [[row.network_disk_id, row.rented_bytes]])),
  );
}

/** Space of each machine's own disk that is rented as volumes; machines without volumes are missing. */
export async function sumRentedOfMachines(
  db: Reader,
  ids: readonly MachineId[],
): Promise<ReadonlyMap<MachineId, bigint>> {
  const rows = await db
    .selectFrom("volumes")
    .select(["machine_id", sql<bigint>`sum(size_bytes)::bigint`.as("rented_bytes")])
    .where("deleted_at", "is", null)
    .where("machine_id", "=", sql<MachineId>`any(${ids}::integer[])`)
    .groupBy("machine_id")
    .execute();
  return new Map(rows.flatMap((row) => (row.machine_id === null ? [] : [[row.machine_id, row.rented_bytes]])));
}

/** Moves the end of a disk's live volumes whose price is at least the given one; returns how many it moved. */
export async function extendVolumes(
  tx: Tx,
  disk: { readonly machineId: MachineId } | { readonly networkDiskId: NetworkDiskId },
  { priceNanosPerGbMonth, endAt }: Pick<Volume, "priceNanosPerGbMonth" | "endAt">,
): Promise<number> {
  const result = await tx.db
    .updateTable("volumes")
    .set({ end_at: endAt })
    .where((eb) =>
      "machineId" in disk ? eb("machine_id", "=", disk.machineId) : eb("network_disk_id", "=", disk.networkDiskId),
    )
    .where("deleting_at", "is", null)
    .where("price_nanos_per_gb_month", ">=", priceNanosPerGbMonth)
    .where("end_at", "<", endAt)
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
}

export async function insertAttachments(
  tx: Tx,
  attachments: readonly Pick<Attachment, "volumeId" | "instanceId" | "mountPath">[],
): Promise<void> {
  if (attachments.length === 0) return;
  await tx.db
    .insertInto("volume_attachments")
    .values(
      attachments.map(({ volumeId, instanceId, mountPath }) => ({
        volume_id: volumeId,
        instance_id: instanceId,
        mount_path: mountPath,
        attached_at: tx.now,
      })),
    )
    .execute();
}

export async function deleteAttachments(tx: Tx, instanceIds: readonly InstanceId[]): Promise<void> {
  await tx.db
    .deleteFrom("volume_attachments")
    .where("instance_id", "=", sql<InstanceId>`any(${instanceIds}::integer[])`)
    .execute();
}

/** Mounts of these instances, in order of mount path, so that outer mounts come before inner ones. */
export async function listAttachmentsOfInstances(
  db: Reader,
  instanceIds: readonly InstanceId[],
): Promise<readonly Attachment[]> {
  const rows = await selectAttachments(db)
    .where("instance_id", "=", sql<InstanceId>`any(${instanceIds}::integer[])`)
    .orderBy("instance_id")
    .orderBy("mount_path")
    .execute();
  return rows.map(toAttachment);
}

/** Locks these volumes in the order of their ids: their attachments stay as they are. */
export async function lockVolumes(tx: Tx, ids: readonly VolumeId[]): Promise<void> {
  await tx.db
    .selectFrom("volumes")
    .select("id")
    .where("id", "=", sql<VolumeId>`any(${ids}::integer[])`)
    .orderBy("id")
    .forUpdate()
    .execute();
}

/** Instances that mount these volumes. */
export async function listAttachmentsOfVolumes(
  db: Reader,
  volumeIds: readonly VolumeId[],
): Promise<readonly Attachment[]> {
  const rows = await selectAttachments(db)
    .where("volume_id", "=", sql<VolumeId>`any(${volumeIds}::integer[])`)
    .orderBy("volume_id")
    .orderBy("instance_id")
    .execute();
  return rows.map(toAttachment);
}

function selectAttachments(db: Reader) {
  return db
    .selectFrom("volume_attachments")
    .innerJoin("volumes", "volumes.id", "volume_attachments.volume_id")
    .select(["volume_id", "instance_id", "mount_path", "size_bytes", "used_bytes"]);
}

type AttachmentRow = Awaited<ReturnType<ReturnType<typeof selectAttachments>["executeTakeFirstOrThrow"]>>;

function toAttachment(row: AttachmentRow): Attachment {
  return {
    volumeId: row.volume_id,
    instanceId: row.instance_id,
    mountPath: row.mount_path,
    sizeBytes: row.size_bytes,
    usedBytes: row.used_bytes,
  };
}

function selectVolumes(db: Reader) {
  return db
    .selectFrom("volumes")
    .select([
      "id",
      "user_id",
      "cap_scopes",
      "machine_id",
      "volume_offer_id",
      "network_disk_id",
      "network_volume_offer_id",
      "name",
      "size_bytes",
      "price_nanos_per_gb_month",
      "end_at",
      "created_at",
      "used_bytes",
      "problem",
    ])
    .where("deleting_at", "is", null);
}

type VolumeRow = Awaited<ReturnType<ReturnType<typeof selectVolumes>["executeTakeFirstOrThrow"]>>;

function toVolume(row: VolumeRow): Volume {
  return {
    id: row.id,
    userId: row.user_id,
    capScopes: row.cap_scopes.map(parseCapScope),
    place: toPlace(row),
    name: row.name,
    sizeBytes: row.size_bytes,
    priceNanosPerGbMonth: nanos(row.price_nanos_per_gb_month),
    endAt: row.end_at,
    createdAt: row.created_at,
    usedBytes: row.used_bytes,
    problem: row.problem,
  };
}

function toPlace(row: VolumeRow): Place {
  if (row.machine_id !== null && row.volume_offer_id !== null) {
    return { kind: "local", machineId: row.machine_id, offerId: row.volume_offer_id };
  }
  invariant(row.network_disk_id !== null && row.network_volume_offer_id !== null, "a volume lies in one place");
  return { kind: "network", networkDiskId: row.network_disk_id, offerId: row.network_volume_offer_id };
}
