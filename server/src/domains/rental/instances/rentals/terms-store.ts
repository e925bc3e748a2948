import { sql } from "kysely";
import type { InstanceId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { storageChargedUntil } from "../../../money/tabs/index.ts";
import type { Actor, Instance } from "../instance.ts";
import type { PastTerms } from "../rules/terms-history.ts";

/** The prices of a rental: for the whole rental, storage by GB and month, traffic by GB. */
export type Prices = Pick<
  Instance,
  "priceNanosPerHour" | "storageNanosPerGbMonth" | "inetUpNanosPerGb" | "inetDownNanosPerGb"
>;

export async function setPrices(tx: Tx, id: InstanceId, prices: Prices): Promise<void> {
  await tx.db
    .updateTable("instances")
    .set({
      price_nanos_per_hour: prices.priceNanosPerHour,
      storage_nanos_per_gb_month: prices.storageNanosPerGbMonth,
      inet_up_nanos_per_gb: prices.inetUpNanosPerGb,
      inet_down_nanos_per_gb: prices.inetDownNanosPerGb,
    })
    .where("id", "=", id)
    .execute();
}

export async function setDiscount(tx: Tx, id: InstanceId, discountPpm: number): Promise<void> {
  await tx.db.updateTable("instances").set({ discount_ppm: discountPpm }).where("id", "=", id).execute();
}

/**
 * Stores replaced terms. The mark of one generation never decreases, and the end of terms never lies before what is
 * charged by them. The caller holds the lock of the instance.
 */
export async function insertPastTerms(tx: Tx, past: PastTerms): Promise<void> {
  await sql`
    insert into past_terms (
      instance_id, until_at, generation, until_running_ms, until_received_bytes, until_sent_bytes,
      price_nanos_per_hour, storage_nanos_per_gb_month, inet_up_nanos_per_gb, inet_down_nanos_per_gb, discount_ppm
    )
    select ${past.instanceId}::integer,
      greatest(${past.untilAt}::timestamptz, max(until_at), ${storageChargedUntil(sql`${past.instanceId}::integer`)}),
      ${past.generation}::integer,
      greatest(${past.untilRunningMs}::bigint, max(until_running_ms) filter (where generation = ${past.generation})),
      greatest(${past.untilReceivedBytes}::bigint, max(until_received_bytes) filter (where generation = ${past.generation})),
      greatest(${past.untilSentBytes}::bigint, max(until_sent_bytes) filter (where generation = ${past.generation})),
      ${past.priceNanosPerHour}::bigint, ${past.storageNanosPerGbMonth}::bigint, ${past.inetUpNanosPerGb}::bigint,
      ${past.inetDownNanosPerGb}::bigint, ${past.discountPpm}::integer
    from past_terms where instance_id = ${past.instanceId}
  `.execute(tx.db);
}

/**
 * The earlier terms of these instances, in the order in which they ended; instances whose terms never changed are
 * missing.
 */
export async function listPastTerms(
  db: Reader,
  instanceIds: readonly InstanceId[],
): Promise<ReadonlyMap<InstanceId, readonly PastTerms[]>> {
  if (instanceIds.length === 0) return new Map();
  const { rows } = await sql<PastTerms>`
    select instance_id as "instanceId", until_at as "untilAt", generation, until_running_ms as "untilRunningMs",
      until_received_bytes as "untilReceivedBytes", until_sent_bytes as "untilSentBytes",
      price_nanos_per_hour as "priceNanosPerHour", storage_nanos_per_gb_month as "storageNanosPerGbMonth",
      inet_up_nanos_per_gb as "inetUpNanosPerGb", inet_down_nanos_per_gb as "inetDownNanosPerGb",
      discount_ppm as "discountPpm"
    from past_terms where instance_id = any(${instanceIds}::integer[])
    order by instance_id, id
  `.execute(db);
  return Map.groupBy(rows, (row) => row.instanceId);
}

/**
 * Ends the discount of these instances: use that their present runs counted until now had it, as far as a deposit paid.
 * The caller holds their locks.
 */
export async function endDiscounts(tx: Tx, ids: readonly InstanceId[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    insert into past_terms (
      instance_id, until_at, generation, until_running_ms, until_received_bytes, until_sent_bytes,
      price_nanos_per_hour, storage_nanos_per_gb_month, inet_up_nanos_per_gb, inet_down_nanos_per_gb, discount_ppm
    )
    select i.id, greatest(${tx.now}::timestamptz, ${storageChargedUntil(sql`i.id`)}, marked.at), i.generation,
      greatest(run.running_ms, marked.running_ms, 0), greatest(run.received_bytes, marked.received_bytes, 0),
      greatest(run.sent_bytes, marked.sent_bytes, 0), i.price_nanos_per_hour, i.storage_nanos_per_gb_month,
      i.inet_up_nanos_per_gb, i.inet_down_nanos_per_gb, i.discount_ppm
    from instances i
    left join instance_runs run on run.instance_id = i.id and run.generation = i.generation
    cross join lateral (
      select max(until_at) as at, max(until_running_ms) filter (where past.generation = i.generation) as running_ms,
        max(until_received_bytes) filter (where past.generation = i.generation) as received_bytes,
        max(until_sent_bytes) filter (where past.generation = i.generation) as sent_bytes
      from past_terms past where past.instance_id = i.id
    ) as marked
    where i.id = any(${[...ids]}::integer[]) and i.discount_ppm > 0
    order by i.id
  `.execute(tx.db);
  await tx.db
    .updateTable("instances")
    .set({ discount_ppm: 0 })
    .where("id", "=", sql<InstanceId>`any(${[...ids]}::integer[])`)
    .execute();
}

/** Instances whose rental ended before this time and that still exist. */
export async function listEndedBefore(db: Reader, before: Date, limit: number): Promise<readonly InstanceId[]> {
  const rows = await db
    .selectFrom("instances")
    .select("id")
    .where("end_at", "<=", before)
    .where("ended_at", "is", null)
    .where("desired", "!=", "destroyed")
    .orderBy("end_at")
    .limit(limit)
    .execute();
  return rows.map((row) => row.id);
}

/** The actor who ended a rental early, and the intent at its end date. */
export type Ending = {
  /** `user:7`, `rule`, …; undefined for a rental that goes on, or reached its end. */
  readonly endedEarlyBy: Actor | undefined;
  readonly wasWantedToTheEnd: boolean;
};

export async function readEnding(db: Reader, { id, endAt }: Pick<Instance, "id" | "endAt">): Promise<Ending> {
  const { rows } = await sql<{ actor: Actor | null; was_wanted: boolean }>`
    select
      (
        select actor from instance_events
        where instance_id = ${id} and to_phase = 'ending' and from_phase <> 'ending' and at < ${endAt}::timestamptz
        order by id limit 1
      ) as actor,
      exists (
        select from instance_events
        where instance_id = ${id} and at >= ${endAt}::timestamptz and from_phase not in ('stopped', 'ending')
      ) as was_wanted
  `.execute(db);
  return { endedEarlyBy: rows[0]?.actor ?? undefined, wasWantedToTheEnd: rows[0]?.was_wanted ?? false };
}
