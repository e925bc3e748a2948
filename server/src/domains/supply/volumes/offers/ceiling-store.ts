import { sql } from "kysely";
import type { MachineId, UserId } from "../../../../base/ids.ts";
import type { Nanos } from "../../../../base/money.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { hostIdOf } from "../../hosts/for-volumes.ts";

/** Machines whose listed space costs more than this. */
export async function listDearSpace(db: Reader, most: Nanos, limit: number): Promise<readonly MachineId[]> {
  const rows = await db
    .selectFrom("volume_offers")
    .select("machine_id")
    .where("unlisted_at", "is", null)
    .where("price_nanos_per_gb_month", ">", most)
    .orderBy("machine_id")
    .limit(limit)
    .execute();
  return rows.map((row) => row.machine_id);
}

/**
 * Lowers the price of listed space on these machines to the ceiling; returns the machines that were above. The ids of
 * offers stay: an id promises a price that never rises, and a lower one keeps that promise (ADR 0032). The caller holds
 * the machines' locks.
 */
export async function lowerSpacePrices(
  tx: Tx,
  ids: readonly MachineId[],
  most: Nanos,
): Promise<readonly { readonly id: MachineId; readonly hostId: UserId }[]> {
  const { rows } = await sql<{ id: MachineId; hostId: UserId }>`
    update volume_offers set price_nanos_per_gb_month = ${most}::bigint, updated_at = ${tx.now}::timestamptz
    where machine_id = any(${ids}::integer[]) and unlisted_at is null and price_nanos_per_gb_month > ${most}::bigint
    returning machine_id as id, ${hostIdOf(sql`volume_offers.machine_id`)} as "hostId"
  `.execute(tx.db);
  return rows;
}

/** Lowers the prices of network disks' listings to the ceiling; returns their owners. */
export async function lowerNetworkSpacePrices(
  tx: Tx,
  most: Nanos,
): Promise<readonly { readonly diskId: number; readonly hostId: UserId }[]> {
  const { rows } = await sql<{ diskId: number; hostId: UserId }>`
    update network_volume_offers set price_nanos_per_gb_month = ${most}::bigint, updated_at = ${tx.now}::timestamptz
    from network_disks
    where network_disks.id = network_volume_offers.network_disk_id
      and unlisted_at is null and price_nanos_per_gb_month > ${most}::bigint
    returning network_disks.id as "diskId", network_disks.user_id as "hostId"
  `.execute(tx.db);
  return rows;
}
