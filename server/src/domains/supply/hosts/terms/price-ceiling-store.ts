import { sql } from "kysely";
import type { MachineId, UserId } from "../../../../base/ids.ts";
import { nanos } from "../../../../base/money.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import type { PriceCeilings } from "../../../../base/price-ceilings.ts";

export async function readPriceCeilings(db: Reader): Promise<PriceCeilings> {
  const row = await db
    .selectFrom("price_rules")
    .select(["traffic_nanos_per_gb_max", "storage_nanos_per_gb_month_max"])
    .executeTakeFirstOrThrow();
  return {
    trafficNanosPerGb: nanos(row.traffic_nanos_per_gb_max),
    storageNanosPerGbMonth: nanos(row.storage_nanos_per_gb_month_max),
  };
}

/** Stores the ceilings that this server was started with, for all servers. A loop lowers listings above them. */
export async function setPriceCeilings(tx: Tx, ceilings: PriceCeilings): Promise<void> {
  await tx.db
    .updateTable("price_rules")
    .set({
      traffic_nanos_per_gb_max: ceilings.trafficNanosPerGb,
      storage_nanos_per_gb_month_max: ceilings.storageNanosPerGbMonth,
    })
    .execute();
}

const IS_DEAR = sql`(
  machines.price_inet_up_nanos_per_gb > price_rules.traffic_nanos_per_gb_max
  or machines.price_inet_down_nanos_per_gb > price_rules.traffic_nanos_per_gb_max
  or machines.price_disk_nanos_per_gb_month > price_rules.storage_nanos_per_gb_month_max
)`;

/** Machines whose terms are above a ceiling. */
export async function listDearMachines(db: Reader, limit: number): Promise<readonly MachineId[]> {
  const { rows } = await sql<{ id: MachineId }>`
    select machines.id from machines, price_rules where machines.deleted_at is null and ${IS_DEAR}
    order by machines.id limit ${limit}::integer
  `.execute(db);
  return rows.map(({ id }) => id);
}

/**
 * Lowers the terms of these machines to the ceilings; returns the machines that were above. The caller holds their
 * locks.
 */
export async function lowerMachinePrices(
  tx: Tx,
  ids: readonly MachineId[],
): Promise<readonly { readonly id: MachineId; readonly hostId: UserId }[]> {
  const { rows } = await sql<{ id: MachineId; hostId: UserId }>`
    update machines set
      price_inet_up_nanos_per_gb = least(price_inet_up_nanos_per_gb, price_rules.traffic_nanos_per_gb_max),
      price_inet_down_nanos_per_gb = least(price_inet_down_nanos_per_gb, price_rules.traffic_nanos_per_gb_max),
      price_disk_nanos_per_gb_month = least(price_disk_nanos_per_gb_month, price_rules.storage_nanos_per_gb_month_max)
    from price_rules
    where machines.id = any(${ids}::integer[]) and ${IS_DEAR}
    returning machines.id, machines.host_id as "hostId"
  `.execute(tx.db);
  return rows;
}
