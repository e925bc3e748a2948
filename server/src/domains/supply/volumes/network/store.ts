import { sql } from "kysely";
import type { MachineId, NetworkDiskId, NetworkVolumeOfferId, UserId } from "../../../../base/ids.ts";
import { nanos } from "../../../../base/money.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import type { Listing } from "../offers/rules/listing.ts";

export type NetworkDisk = { readonly id: NetworkDiskId; readonly userId: UserId; readonly sizeBytes: bigint };

export type NetworkVolumeOffer = Listing & {
  readonly id: NetworkVolumeOfferId;
  readonly networkDiskId: NetworkDiskId;
  readonly ownerId: UserId;
  readonly createdAt: Date;
};

export type NetworkDiskMount = {
  readonly networkDiskId: NetworkDiskId;
  readonly machineId: MachineId;
  readonly mountPath: string;
};

/** A stored mount. */
export type StoredMount = NetworkDiskMount & {
  /** Before this time the machine proves nothing about the data on the disk. */
  readonly mountedAt: Date;
};

export async function insertNetworkDisk(
  tx: Tx,
  { userId, sizeBytes }: Pick<NetworkDisk, "userId" | "sizeBytes">,
): Promise<NetworkDiskId> {
  const row = await tx.db
    .insertInto("network_disks")
    .values({ user_id: userId, size_bytes: sizeBytes, created_at: tx.now })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

/** Locks the disk if it belongs to this user: its listing and its rented space change under this lock only. */
export async function findNetworkDiskForUpdate(
  tx: Tx,
  id: NetworkDiskId,
  userId: UserId,
): Promise<NetworkDisk | undefined> {
  const row = await tx.db
    .selectFrom("network_disks")
    .select(["id", "user_id", "size_bytes"])
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .forUpdate()
    .executeTakeFirst();
  return row && { id: row.id, userId: row.user_id, sizeBytes: row.size_bytes };
}

/** Locks the disk of a listing, for any owner. */
export async function lockNetworkDisk(tx: Tx, id: NetworkDiskId): Promise<void> {
  await tx.db.selectFrom("network_disks").select("id").where("id", "=", id).forUpdate().execute();
}

export async function listNetworkDisks(db: Reader, userId: UserId): Promise<readonly NetworkDisk[]> {
  const rows = await db
    .selectFrom("network_disks")
    .select(["id", "user_id", "size_bytes"])
    .where("user_id", "=", userId)
    .orderBy("id")
    .execute();
  return rows.map((row) => ({ id: row.id, userId: row.user_id, sizeBytes: row.size_bytes }));
}

/** Owners of these disks. */
export async function listNetworkDiskOwners(
  db: Reader,
  ids: readonly NetworkDiskId[],
): Promise<ReadonlyMap<NetworkDiskId, UserId>> {
  const rows = await db
    .selectFrom("network_disks")
    .select(["id", "user_id"])
    .where("id", "=", sql<NetworkDiskId>`any(${ids}::integer[])`)
    .execute();
  return new Map(rows.map((row) => [row.id, row.user_id]));
}

/** Machines that mount these disks, with their mount paths, by disk and machine. */
export async function listNetworkDiskMounts(
  db: Reader,
  diskIds: readonly NetworkDiskId[],
): Promise<readonly StoredMount[]> {
  const rows = await db
    .selectFrom("network_disk_mounts")
    .select(["network_disk_id", "machine_id", "mount_path", "created_at"])
    .where("network_disk_id", "=", sql<NetworkDiskId>`any(${diskIds}::integer[])`)
    .orderBy("network_disk_id")
    .orderBy("machine_id")
    .execute();
  return rows.map((row) => ({
    networkDiskId: row.network_disk_id,
    machineId: row.machine_id,
    mountPath: row.mount_path,
    mountedAt: row.created_at,
  }));
}

/** Stores where a machine mounts a disk; an existing mount keeps its time. */
export async function upsertNetworkDiskMount(tx: Tx, mount: NetworkDiskMount): Promise<void> {
  await tx.db
    .insertInto("network_disk_mounts")
    .values({
      network_disk_id: mount.networkDiskId,
      machine_id: mount.machineId,
      mount_path: mount.mountPath,
      created_at: tx.now,
    })
    .onConflict((oc) => oc.columns(["network_disk_id", "machine_id"]).doUpdateSet({ mount_path: mount.mountPath }))
    .execute();
}

/** The disk's live listing, expired or not. */
export async function findNetworkVolumeOfferOfDisk(
  db: Reader,
  diskId: NetworkDiskId,
): Promise<NetworkVolumeOffer | undefined> {
  const row = await selectOffers(db).where("network_volume_offers.network_disk_id", "=", diskId).executeTakeFirst();
  return row && toOffer(row);
}

/** A live listing by its id, expired or not, of any owner. */
export async function findNetworkVolumeOffer(
  db: Reader,
  id: NetworkVolumeOfferId,
): Promise<NetworkVolumeOffer | undefined> {
  const row = await selectOffers(db).where("network_volume_offers.id", "=", id).executeTakeFirst();
  return row && toOffer(row);
}

/** All listings that are open at this time. */
export async function listNetworkVolumeOffers(db: Reader, now: Date): Promise<readonly NetworkVolumeOffer[]> {
  const rows = await selectOffers(db)
    .where("network_volume_offers.end_at", ">", now)
    .orderBy("network_volume_offers.id")
    .execute();
  return rows.map(toOffer);
}

export async function insertNetworkVolumeOffer(
  tx: Tx,
  diskId: NetworkDiskId,
  listing: Listing,
): Promise<NetworkVolumeOfferId> {
  const row = await tx.db
    .insertInto("network_volume_offers")
    .values({ network_disk_id: diskId, ...toColumns(listing), created_at: tx.now, updated_at: tx.now })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

export async function updateNetworkVolumeOffer(tx: Tx, id: NetworkVolumeOfferId, listing: Listing): Promise<void> {
  await tx.db
    .updateTable("network_volume_offers")
    .set({ ...toColumns(listing), updated_at: tx.now })
    .where("id", "=", id)
    .execute();
}

/** A listing of this id that was replaced because its terms became worse. */
export async function findReplacedNetworkVolumeOffer(
  db: Reader,
  id: NetworkVolumeOfferId,
): Promise<NetworkVolumeOffer | undefined> {
  const row = await selectAnyOffers(db)
    .where("network_volume_offers.id", "=", id)
    .where("network_volume_offers.is_replaced", "=", true)
    .executeTakeFirst();
  return row && toOffer(row);
}

/** Ends a live listing in favour of another one of the same disk, whose lock the caller holds. */
export async function replaceNetworkVolumeOffer(tx: Tx, id: NetworkVolumeOfferId): Promise<void> {
  await tx.db
    .updateTable("network_volume_offers")
    .set({ unlisted_at: tx.now, is_replaced: true })
    .where("id", "=", id)
    .execute();
}

/** Ends the live listing of this id if this user owns its disk; false when there is none. Volumes rented of it stay. */
export async function unlistNetworkVolumeOffer(tx: Tx, id: NetworkVolumeOfferId, userId: UserId): Promise<boolean> {
  const result = await tx.db
    .updateTable("network_volume_offers")
    .from("network_disks")
    .set({ unlisted_at: tx.now })
    .whereRef("network_disks.id", "=", "network_volume_offers.network_disk_id")
    .where("network_disks.user_id", "=", userId)
    .where("network_volume_offers.id", "=", id)
    .where("network_volume_offers.unlisted_at", "is", null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Ends the live listings of all network disks of these accounts; returns how many. Volumes rented of them stay. */
export async function unlistNetworkSpaceOf(tx: Tx, userIds: readonly UserId[]): Promise<number> {
  const result = await tx.db
    .updateTable("network_volume_offers")
    .from("network_disks")
    .set({ unlisted_at: tx.now })
    .whereRef("network_disks.id", "=", "network_volume_offers.network_disk_id")
    .where("network_disks.user_id", "=", sql<UserId>`any(${[...userIds]}::integer[])`)
    .where("network_volume_offers.unlisted_at", "is", null)
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
}

function selectOffers(db: Reader) {
  return selectAnyOffers(db).where("network_volume_offers.unlisted_at", "is", null);
}

function selectAnyOffers(db: Reader) {
  return db
    .selectFrom("network_volume_offers")
    .innerJoin("network_disks", "network_disks.id", "network_volume_offers.network_disk_id")
    .select([
      "network_volume_offers.id",
      "network_volume_offers.network_disk_id",
      "network_disks.user_id",
      "network_volume_offers.size_bytes",
      "network_volume_offers.price_nanos_per_gb_month",
      "network_volume_offers.credit_discount_max_permille",
      "network_volume_offers.end_at",
      "network_volume_offers.created_at",
    ]);
}

type OfferRow = Awaited<ReturnType<ReturnType<typeof selectOffers>["executeTakeFirstOrThrow"]>>;

function toOffer(row: OfferRow): NetworkVolumeOffer {
  return {
    id: row.id,
    networkDiskId: row.network_disk_id,
    ownerId: row.user_id,
    sizeBytes: row.size_bytes,
    priceNanosPerGbMonth: nanos(row.price_nanos_per_gb_month),
    creditDiscountMaxPermille: row.credit_discount_max_permille,
    endAt: row.end_at,
    createdAt: row.created_at,
  };
}

function toColumns(listing: Listing) {
  return {
    size_bytes: listing.sizeBytes,
    price_nanos_per_gb_month: listing.priceNanosPerGbMonth,
    credit_discount_max_permille: listing.creditDiscountMaxPermille,
    end_at: listing.endAt,
  };
}
