import { sql } from "kysely";
import type { MachineId, UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";

export type ToldMachine = { readonly id: MachineId; readonly hostId: UserId; readonly at: Date };

/**
 * Machines that are certainly lost and whose host was not told; `at` is when they were last heard. After a start of the
 * server the list is empty until agents had time to reconnect.
 */
export async function takeLostMachines(tx: Tx, limit: number): Promise<readonly ToldMachine[]> {
  const { rows } = await sql<ToldMachine>`
    update machines set told_away_since_at = last_seen_at
    where id in (
      select id from machines
      where not is_connected and deleted_at is null and lease_until_at < ${tx.now}::timestamptz
        and told_away_since_at is distinct from last_seen_at
        and not exists (select from presence_clock where counted_until_at > ${tx.now}::timestamptz)
        and (excused_until_at is null or excused_until_at <= ${tx.now}::timestamptz)
      order by id limit ${limit}::integer
      for update skip locked
    )
    returning id, host_id as "hostId", last_seen_at as "at"
  `.execute(tx.db);
  return rows;
}

/** Machines that are back after their host was told of the loss; `at` is when they had last been heard before. */
export async function takeReturnedMachines(tx: Tx, limit: number): Promise<readonly ToldMachine[]> {
  const { rows } = await sql<ToldMachine>`
    update machines set told_away_since_at = null
    from (
      select id, told_away_since_at as since from machines
      where told_away_since_at is not null and is_connected
      order by id limit ${limit}::integer
      for update skip locked
    ) back
    where machines.id = back.id
    returning machines.id, machines.host_id as "hostId", back.since as "at"
  `.execute(tx.db);
  return rows;
}

/** Listings with a fixed end before this time of which their hosts were not told; `at` is that end. */
export async function takeEndingListings(tx: Tx, before: Date, limit: number): Promise<readonly ToldMachine[]> {
  const { rows } = await sql<ToldMachine>`
    update machines set told_listing_end_at = offer_end_at
    where id in (
      select id from machines
      where is_listed and offer_duration_s is null
        and offer_end_at > ${tx.now}::timestamptz and offer_end_at <= ${before}::timestamptz
        and told_listing_end_at is distinct from offer_end_at
      order by offer_end_at limit ${limit}::integer
      for update skip locked
    )
    returning id, host_id as "hostId", offer_end_at as "at"
  `.execute(tx.db);
  return rows;
}
