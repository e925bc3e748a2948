import { sql } from "kysely";
import type { MachineId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";

/** A listing whose end moves on, with its new end. */
export type RolledListing = { readonly machineId: MachineId; readonly endAt: Date };

/** Rolling listings that were last moved more than a day ago, or more than half their duration if that is shorter. */
export async function listRollingMachines(db: Reader, now: Date, limit: number): Promise<readonly MachineId[]> {
  const rows = await db
    .selectFrom("machines")
    .select("id")
    .where("is_listed", "=", true)
    .where("offer_duration_s", "is not", null)
    .where(isDue(now))
    .orderBy("offer_end_at")
    .limit(limit)
    .execute();
  return rows.map((row) => row.id);
}

/** Moves these ends on; returns those that were still due. The caller holds the row locks. */
export async function rollListingEnds(tx: Tx, ids: readonly MachineId[]): Promise<readonly RolledListing[]> {
  const rows = await tx.db
    .updateTable("machines")
    .set({ offer_end_at: sql<Date>`${tx.now}::timestamptz + make_interval(secs => offer_duration_s)` })
    .where("id", "=", sql<MachineId>`any(${ids}::integer[])`)
    .where("is_listed", "=", true)
    .where("offer_duration_s", "is not", null)
    .where(isDue(tx.now))
    .returning(["id", "offer_end_at"])
    .execute();
  return rows.map((row) => ({ machineId: row.id, endAt: row.offer_end_at }));
}

/** A listing of less than two days is moved on after half its duration, so that it does not end before. */
function isDue(now: Date) {
  return sql<boolean>`offer_end_at <= ${now}::timestamptz
    + make_interval(secs => offer_duration_s - least(86400, offer_duration_s / 2))`;
}

/** Listings with a fixed end that has passed. */
export async function listEndedListings(db: Reader, now: Date, limit: number): Promise<readonly MachineId[]> {
  const rows = await db
    .selectFrom("machines")
    .select("id")
    .where("is_listed", "=", true)
    .where("offer_duration_s", "is", null)
    .where("offer_end_at", "<=", now)
    .orderBy("offer_end_at")
    .limit(limit)
    .execute();
  return rows.map((row) => row.id);
}

/** Takes these listings off the market; returns those that were still due. The caller holds the row locks. */
export async function endListings(tx: Tx, ids: readonly MachineId[]): Promise<readonly MachineId[]> {
  const rows = await tx.db
    .updateTable("machines")
    .set({ is_listed: false })
    .where("id", "=", sql<MachineId>`any(${ids}::integer[])`)
    .where("is_listed", "=", true)
    .where("offer_duration_s", "is", null)
    .where("offer_end_at", "<=", tx.now)
    .returning("id")
    .execute();
  return rows.map((row) => row.id);
}
