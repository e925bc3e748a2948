import { sql } from "kysely";
import type { AgentCredentialId, MachineId, UserId } from "../../../../base/ids.ts";
import { nanos } from "../../../../base/money.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import type { Listing } from "./rules/listing.ts";

/** Channel that carries the id of a machine at the commit of its deletion. */
export const DELETED_CHANNEL = "machine_deleted";

/** Listing terms of a machine; `offerDurationS` is undefined when the end is fixed. */
export type Terms = Listing;

/** A machine as its host sees it. A deleted machine belongs to nobody. */
export type HostedMachine = {
  readonly id: MachineId;
  readonly hostId: UserId;
  readonly isListed: boolean;
  /** Start of the present or last connection; undefined for a machine that has not connected since this is recorded. */
  readonly connectedAt: Date | undefined;
  readonly terms: Terms;
};

/** The machines of a host, or of all hosts among `ids`, in id order. */
export async function listHosted(
  db: Reader,
  by: { readonly hostId: UserId } | { readonly ids: readonly MachineId[] },
): Promise<readonly HostedMachine[]> {
  const rows = await db
    .selectFrom("machines")
    .select([
      "id",
      "host_id",
      "is_listed",
      "connected_at",
      "price_device_nanos_per_hour",
      "price_min_bid_nanos_per_hour",
      "price_disk_nanos_per_gb_month",
      "price_inet_up_nanos_per_gb",
      "price_inet_down_nanos_per_gb",
      "min_chunk",
      "credit_discount_max_permille",
      "offer_end_at",
      "offer_duration_s",
    ])
    .where("deleted_at", "is", null)
    .where((eb) => ("hostId" in by ? eb("host_id", "=", by.hostId) : sql<boolean>`id = any(${by.ids}::integer[])`))
    .orderBy("id")
    .execute();
  return rows.map((row) => ({
    id: row.id,
    hostId: row.host_id,
    isListed: row.is_listed,
    connectedAt: row.connected_at ?? undefined,
    terms: {
      priceDeviceNanosPerHour: nanos(row.price_device_nanos_per_hour),
      priceMinBidNanosPerHour: nanos(row.price_min_bid_nanos_per_hour),
      priceDiskNanosPerGbMonth: nanos(row.price_disk_nanos_per_gb_month),
      priceInetUpNanosPerGb: nanos(row.price_inet_up_nanos_per_gb),
      priceInetDownNanosPerGb: nanos(row.price_inet_down_nanos_per_gb),
      minChunk: row.min_chunk,
      creditDiscountMaxPermille: row.credit_discount_max_permille,
      offerEndAt: row.offer_end_at,
      offerDurationS: row.offer_duration_s === null ? undefined : Number(row.offer_duration_s),
    },
  }));
}

/** Lists a machine on the market under these terms. The caller holds its row lock. */
export async function listMachineUnder(tx: Tx, id: MachineId, terms: Terms): Promise<void> {
  await tx.db
    .updateTable("machines")
    .set({
      is_listed: true,
      price_device_nanos_per_hour: terms.priceDeviceNanosPerHour,
      price_min_bid_nanos_per_hour: terms.priceMinBidNanosPerHour,
      price_disk_nanos_per_gb_month: terms.priceDiskNanosPerGbMonth,
      price_inet_up_nanos_per_gb: terms.priceInetUpNanosPerGb,
      price_inet_down_nanos_per_gb: terms.priceInetDownNanosPerGb,
      min_chunk: terms.minChunk,
      credit_discount_max_permille: terms.creditDiscountMaxPermille,
      offer_end_at: terms.offerEndAt,
      offer_duration_s: terms.offerDurationS === undefined ? null : BigInt(terms.offerDurationS),
    })
    .where("id", "=", id)
    .execute();
}

/** Takes a machine off the market; its terms are kept for the next listing. */
export async function unlistMachine(tx: Tx, id: MachineId): Promise<void> {
  await tx.db.updateTable("machines").set({ is_listed: false }).where("id", "=", id).execute();
}

export async function setMinBid(tx: Tx, id: MachineId, nanosPerHour: bigint): Promise<void> {
  await tx.db
    .updateTable("machines")
    .set({ price_min_bid_nanos_per_hour: nanosPerHour })
    .where("id", "=", id)
    .execute();
}

/** Deletes a machine from every list and disconnects its agent. The caller holds its row lock. */
export async function markMachineDeleted(tx: Tx, id: MachineId): Promise<void> {
  await tx.db.updateTable("machines").set({ is_listed: false, deleted_at: tx.now }).where("id", "=", id).execute();
  await sql`select pg_notify(${DELETED_CHANNEL}, ${String(id)})`.execute(tx.db);
}

/** Restores the deleted machines of a credential as unlisted, since its holder joins again. */
export async function restoreMachines(tx: Tx, credentialId: AgentCredentialId): Promise<void> {
  await tx.db
    .updateTable("machines")
    .set({ deleted_at: null })
    .where("agent_credential_id", "=", credentialId)
    .where("deleted_at", "is not", null)
    .execute();
}
