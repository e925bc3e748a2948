import { sql } from "kysely";
import type { Reader } from "./transaction.ts";

/** Requests of one bucket that a server let through since it last said so, in milliseconds of the bucket's rate. */
export type Spent = { readonly bucket: Buffer; readonly spentMs: number };

/**
 * Adds what was let through to the buckets, and returns how far ahead of now each will be empty, in the order given. The time
 * is the database's: clocks of servers differ. Buckets are locked in the order of their names.
 */
export async function exchangeLimits(db: Reader, spent: readonly Spent[]): Promise<readonly number[]> {
  const buckets = spent.map(({ bucket }) => bucket);
  const amounts = spent.map(({ spentMs }) => spentMs);
  const { rows } = await sql<{ bucket: Buffer; ahead_ms: number }>`
    insert into request_limits as held (bucket, empty_at)
    select bucket, clock_timestamp() + spent_ms * interval '1 millisecond'
    from unnest(${buckets}::bytea[], ${amounts}::float8[]) as given (bucket, spent_ms) order by bucket
    on conflict (bucket) do update set empty_at = greatest(held.empty_at, clock_timestamp())
      + (excluded.empty_at - clock_timestamp())
    returning bucket, extract(epoch from empty_at - clock_timestamp())::float8 * 1000 as ahead_ms
  `.execute(db);
  const byBucket = new Map(rows.map((row) => [row.bucket.toString("base64"), row.ahead_ms]));
  return buckets.map((bucket) => byBucket.get(bucket.toString("base64")) ?? 0);
}

/** Deletes buckets that are empty; a server that fills one at this moment keeps it. */
export async function deleteEmptyLimits(db: Reader, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from request_limits where bucket in (
      select bucket from request_limits where empty_at < clock_timestamp() limit ${limit} for update skip locked
    )
  `.execute(db);
  return Number(numAffectedRows);
}
