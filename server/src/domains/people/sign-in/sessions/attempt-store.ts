import { sql } from "kysely";
import type { Tx } from "../../../../db/transaction.ts";

/** An attempt as it is counted: by the hash of what it is counted by. */
export type Bucket = { readonly sha256: Buffer; readonly max: number };

const WINDOW_MS = 15 * 60_000;
/** Rows that one attempt clears away: more than it adds. */
const CLEARED_MAX = 20;

/**
 * Counts an attempt in each bucket before anything is looked at, so that attempts at once are counted too. Returns the time
 * at which the last full bucket is empty again; undefined when none is full.
 */
export async function countAttempt(tx: Tx, buckets: readonly Bucket[]): Promise<Date | undefined> {
  await sql`
    delete from sign_in_attempts where bucket_sha256 in (
      select bucket_sha256 from sign_in_attempts where window_ends_at <= ${tx.now}::timestamptz
      order by bucket_sha256 limit ${CLEARED_MAX}::integer for update skip locked
    )
  `.execute(tx.db);
  const windowEndsAt = new Date(tx.now.getTime() + WINDOW_MS);
  let fullUntil: Date | undefined;
  // In one order, so that two attempts cannot wait for each other.
  for (const { sha256, max } of buckets.toSorted((a, b) => Buffer.compare(a.sha256, b.sha256))) {
    const { rows } = await sql<{ attempt_count: number; window_ends_at: Date }>`
      insert into sign_in_attempts as a (bucket_sha256, attempt_count, window_ends_at)
      values (${sha256}, 1, ${windowEndsAt}::timestamptz)
      on conflict (bucket_sha256) do update set
        attempt_count = case when a.window_ends_at <= ${tx.now}::timestamptz then 1 else a.attempt_count + 1 end,
        window_ends_at =
          case when a.window_ends_at <= ${tx.now}::timestamptz then ${windowEndsAt}::timestamptz else a.window_ends_at end
      returning attempt_count, window_ends_at
    `.execute(tx.db);
    const [row] = rows;
    if (row === undefined || row.attempt_count <= max) continue;
    if (fullUntil === undefined || row.window_ends_at > fullUntil) fullUntil = row.window_ends_at;
  }
  return fullUntil;
}

/** Empties buckets after an attempt that succeeded. */
export async function forgetAttempts(tx: Tx, buckets: readonly Bucket[]): Promise<void> {
  await tx.db
    .deleteFrom("sign_in_attempts")
    .where(
      "bucket_sha256",
      "in",
      buckets.map(({ sha256 }) => sha256),
    )
    .execute();
}
