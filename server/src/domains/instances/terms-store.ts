import { sql } from "kysely";
import type { InstanceId } from "../../base/ids.ts";
import type { Reader, Tx } from "../../db/transaction.ts";
import type { Actor, Instance } from "./instance.ts";

/** What a renter pays: prices for the whole rental, storage by GB and month, traffic by GB. */
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

/** What was left standing although its rental ended before this time. */
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

/** Who ended a rental before its time, and whether it was still wanted when its end date came. */
export type Ending = {
  /** `user:7`, `rule`, …; undefined for one that goes on, or that came to its end. */
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

/** Whether every millisecond that its hosts have counted is charged. */
export async function isCharged(db: Reader, id: InstanceId): Promise<boolean> {
  const row = await db
    .selectFrom("instance_runs")
    .select("generation")
    .where("instance_id", "=", id)
    .where(sql<boolean>`charged_running_ms < running_ms`)
    .executeTakeFirst();
  return row === undefined;
}
