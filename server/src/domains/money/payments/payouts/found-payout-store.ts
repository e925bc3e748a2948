import { sql } from "kysely";
import type { PayoutId, UserId } from "../../../../base/ids.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import type { Reader } from "../../../../db/transaction.ts";
import type { PayoutState } from "./payout-store.ts";

/** A payout to any host as administrators find it. */
export type FoundPayout = {
  readonly id: PayoutId;
  readonly userId: UserId;
  readonly amount: Nanos;
  readonly state: PayoutState;
  readonly reference: string | undefined;
};

/** Payouts by id, or by a part of their references in any case, the newest first. */
export async function searchPayouts(db: Reader, text: string, limit: number): Promise<readonly FoundPayout[]> {
  const id = /^[1-9]\d{0,9}$/.test(text) ? sql`id = ${text}::bigint or` : sql``;
  const { rows } = await sql<{
    readonly id: PayoutId;
    readonly user_id: UserId;
    readonly amount_nanos: bigint;
    readonly state: PayoutState;
    readonly reference: string | null;
  }>`
    select id, user_id, amount_nanos, state, reference from payouts
    where ${id} position(${text.toLowerCase()}::text in lower(reference)) > 0
    order by id desc limit ${limit}::integer
  `.execute(db);
  return rows.map((row) => ({
    id: row.id,
    userId: row.user_id,
    amount: nanos(row.amount_nanos),
    state: row.state,
    reference: row.reference ?? undefined,
  }));
}

/** Payouts and holds of all hosts in numbers. */
export type PayoutCounts = {
  readonly waitingCount: number;
  readonly waitingAmount: Nanos;
  /** Payouts that failed since a moment. */
  readonly failedCount: number;
  readonly holdCount: number;
};

export async function countPayouts(db: Reader, since: Date): Promise<PayoutCounts> {
  const { rows } = await sql<{ waiting: number; amount: string; failed: number; holds: number }>`
    select count(*) filter (where state in ('pending', 'sending'))::integer as waiting,
      coalesce(sum(amount_nanos) filter (where state in ('pending', 'sending')), 0)::text as amount,
      count(*) filter (where state = 'failed' and settled_at >= ${since}::timestamptz)::integer as failed,
      (select count(*) from payout_holds where released_at is null)::integer as holds
    from payouts
  `.execute(db);
  const [row] = rows;
  return {
    waitingCount: row?.waiting ?? 0,
    waitingAmount: nanos(BigInt(row?.amount ?? "0")),
    failedCount: row?.failed ?? 0,
    holdCount: row?.holds ?? 0,
  };
}
