import { sql } from "kysely";
import type { MachineId, UserId, VolumeOfferId } from "../../../../base/ids.ts";
import { nanos } from "../../../../base/money.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { isOwnedBy } from "../../hosts/for-volumes.ts";
import type { Listing } from "../offers/rules/listing.ts";

export type VolumeOffer = Listing & {
  readonly id: VolumeOfferId;
  readonly machineId: MachineId;
  readonly createdAt: Date;
};

/** The machine's live listing, expired or not. */
export async function findVolumeOfferOfMachine(db: Reader, machineId: MachineId): Promise<VolumeOffer | undefined> {
  const row = await selectOffers(db).where("machine_id", "=", machineId).executeTakeFirst();
  return row && toOffer(row);
}

/** The live listings of these machines, expired or not. */
export async function listVolumeOffersOf(
  db: Reader,
  machineIds: readonly MachineId[],
): Promise<readonly VolumeOffer[]> {
  const rows = await selectOffers(db)
    .where("machine_id", "=", sql<MachineId>`any(${machineIds}::integer[])`)
    .execute();
  return rows.map(toOffer);
}

/** A live listing by its id, expired or not. */
export async function findVolumeOffer(db: Reader, id: VolumeOfferId): Promise<VolumeOffer | undefined> {
  const row = await selectOffers(db).where("id", "=", id).executeTakeFirst();
  return row && toOffer(row);
}

/** Those of these machines that never had a listing of space, live or not. */
export async function listNeverListed(db: Reader, machineIds: readonly MachineId[]): Promise<readonly MachineId[]> {
  const { rows } = await sql<{ id: MachineId }>`
    select said.id from unnest(${[...machineIds]}::integer[]) as said (id)
    where not exists (select from volume_offers where volume_offers.machine_id = said.id)
    order by said.id
  `.execute(db);
  return rows.map((row) => row.id);
}

/** All machines that have a live listing of space. */
export async function listMachinesWithSpace(db: Reader): Promise<readonly MachineId[]> {
  const rows = await db
    .selectFrom("volume_offers")
    .select("machine_id")
    .where("unlisted_at", "is", null)
    .orderBy("machine_id")
    .execute();
  return rows.map((row) => row.machine_id);
}

/** Machines whose live listings of space ended within this period. */
export async function listEndedSpace(
  db: Reader,
  { from, to }: { from: Date; to: Date },
): Promise<readonly MachineId[]> {
  const rows = await db
    .selectFrom("volume_offers")
    .select("machine_id")
    .where("unlisted_at", "is", null)
    .where("end_at", ">", from)
    .where("end_at", "<=", to)
    .execute();
  return rows.map((row) => row.machine_id);
}

export async function insertVolumeOffer(tx: Tx, machineId: MachineId, listing: Listing): Promise<VolumeOfferId> {
  const row = await tx.db
    .insertInto("volume_offers")
    .values({ machine_id: machineId, ...toColumns(listing), created_at: tx.now, updated_at: tx.now })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

export async function updateVolumeOffer(tx: Tx, id: VolumeOfferId, listing: Listing): Promise<void> {
  await tx.db
    .updateTable("volume_offers")
    .set({ ...toColumns(listing), updated_at: tx.now })
    .where("id", "=", id)
    .execute();
}

/** A listing of this id that was replaced because its terms became worse. */
export async function findReplacedVolumeOffer(db: Reader, id: VolumeOfferId): Promise<VolumeOffer | undefined> {
  const row = await selectAnyOffers(db).where("id", "=", id).where("is_replaced", "=", true).executeTakeFirst();
  return row && toOffer(row);
}

/** Ends a live listing; false when there is none of this id. Volumes rented of it stay. */
export async function unlistVolumeOffer(
  tx: Tx,
  id: VolumeOfferId,
  { isReplaced = false }: { readonly isReplaced?: boolean } = {},
): Promise<boolean> {
  const result = await tx.db
    .updateTable("volume_offers")
    .set({ unlisted_at: tx.now, is_replaced: isReplaced })
    .where("id", "=", id)
    .where("unlisted_at", "is", null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Ends the live listings of space on all machines of these hosts; returns how many. Volumes rented of them stay. */
export async function unlistLocalSpaceOf(tx: Tx, hostIds: readonly UserId[]): Promise<number> {
  const result = await tx.db
    .updateTable("volume_offers")
    .set({ unlisted_at: tx.now })
    .where(isOwnedBy(sql.ref("volume_offers.machine_id"), hostIds))
    .where("unlisted_at", "is", null)
    .executeTakeFirst();
  return Number(result.numUpdatedRows);
}

function selectOffers(db: Reader) {
  return selectAnyOffers(db).where("unlisted_at", "is", null);
}

function selectAnyOffers(db: Reader) {
  return db
    .selectFrom("volume_offers")
    .select(["id", "machine_id", "size_bytes", "price_nanos_per_gb_month", "end_at", "created_at"]);
}

type OfferRow = Awaited<ReturnType<ReturnType<typeof selectOffers>["executeTakeFirstOrThrow"]>>;

function toOffer(row: OfferRow): VolumeOffer {
  return {
    id: row.id,
    machineId: row.machine_id,
    sizeBytes: row.size_bytes,
    priceNanosPerGbMonth: nanos(row.price_nanos_per_gb_month),
    creditDiscountMaxPermille: 0,
    endAt: row.end_at,
    createdAt: row.created_at,
  };
}

function toColumns(listing: Listing) {
  return {
    size_bytes: listing.sizeBytes,
    price_nanos_per_gb_month: listing.priceNanosPerGbMonth,
    end_at: listing.endAt,
  };
}
