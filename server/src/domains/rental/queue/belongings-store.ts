import { sql } from "kysely";
import type { UserId } from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { STANDING_REQUESTS_CHANNEL } from "./store.ts";

/** Counts a user's standing requests that may still become instances. */
export async function countOpenRequestsOf(db: Reader, userId: UserId): Promise<number> {
  const row = await db
    .selectFrom("standing_requests")
    .select((eb) => eb.fn.countAll<number | bigint>().as("count"))
    .where("user_id", "=", userId)
    .where("status", "=", "open")
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/**
 * Cancels the open standing requests of these accounts and returns their number. A request that is being claimed is left
 * to the next call.
 */
export async function cancelRequestsOf(tx: Tx, userIds: readonly UserId[], reason: string): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    update standing_requests set status = 'cancelled', reason = ${reason}::text, closed_at = ${tx.now}::timestamptz
    where id in (
      select id from standing_requests where user_id = any(${[...userIds]}::integer[]) and status = 'open'
      for update skip locked
    )
    returning id
  `.execute(tx.db);
  for (const { id } of rows) await sql`select pg_notify(${STANDING_REQUESTS_CHANNEL}, ${String(id)})`.execute(tx.db);
  return rows.length;
}

/** The number of requests that wait, and the time of the oldest. */
export async function readQueueLength(
  db: Reader,
): Promise<{ readonly openCount: number; readonly oldestAt: Date | undefined }> {
  const { rows } = await sql<{ count: number; oldest: Date | null }>`
    select count(*)::integer as count, min(created_at) as oldest from standing_requests where status = 'open'
  `.execute(db);
  return { openCount: rows[0]?.count ?? 0, oldestAt: rows[0]?.oldest ?? undefined };
}
