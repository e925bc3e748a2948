// What an audit reads of money that went back.
import { sql } from "kysely";
import type { UserId } from "../../base/ids.ts";
import type { Reader } from "../../db/transaction.ts";
import { NANOS_PER_CENT } from "./cents.ts";

export type AuditedReturn = {
  readonly key: string;
  /** Whose payment it was; undefined where none was credited, and nothing is booked. */
  readonly userId: UserId | undefined;
  /** What has to be booked, by what went back. */
  readonly dueNanos: bigint;
  readonly takenNanos: bigint;
  readonly lostNanos: bigint;
  readonly bookedCount: number;
};

/** What went back since a moment, and what these keys name. */
export async function listAuditedReturns(
  db: Reader,
  { since, keys }: { readonly since: Date | undefined; readonly keys: readonly string[] },
): Promise<readonly AuditedReturn[]> {
  const { rows } = await sql<{
    readonly key: string;
    readonly user_id: UserId | null;
    readonly returned_cents: bigint;
    readonly is_reversed: boolean;
    readonly taken_nanos: bigint;
    readonly lost_nanos: bigint;
    readonly booked_count: number;
  }>`
    select r.key, p.user_id, r.returned_cents, r.is_reversed, r.taken_nanos, r.lost_nanos, r.booked_count
    from payment_returns r
    left join payments p on p.intent_id = r.intent_id and p.state = 'paid'
    where r.created_at >= coalesce(${since ?? null}::timestamptz, '-infinity') or r.key = any (${keys}::text[])
    order by r.key
  `.execute(db);
  return rows.map((row) => ({
    key: row.key,
    userId: row.user_id ?? undefined,
    dueNanos: row.user_id === null || row.is_reversed ? 0n : row.returned_cents * NANOS_PER_CENT,
    takenNanos: row.taken_nanos,
    lostNanos: row.lost_nanos,
    bookedCount: row.booked_count,
  }));
}
