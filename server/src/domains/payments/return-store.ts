import { sql } from "kysely";
import type { Nanos } from "../../base/money.ts";
import { nanos } from "../../base/money.ts";
import type { Tx } from "../../db/transaction.ts";

/** A refund or a dispute, and what was booked for it so far. */
export type PaymentReturn = {
  readonly key: string;
  readonly returnedCents: bigint;
  readonly isReversed: boolean;
  readonly taken: Nanos;
  readonly lost: Nanos;
  readonly bookedCount: number;
};

/** Notes what went back. The sum of refunds only grows, and what was reversed stays so, in whatever order it is told. */
export async function noteReturn(
  tx: Tx,
  told: {
    readonly key: string;
    readonly intentId: string;
    readonly returnedCents: bigint;
    readonly isReversed: boolean;
    readonly isClosed: boolean;
  },
): Promise<void> {
  await sql`
    insert into payment_returns as r (key, intent_id, returned_cents, is_reversed, closed_at, created_at)
    values (
      ${told.key}::text, ${told.intentId}::text, ${told.returnedCents}::bigint, ${told.isReversed}::boolean,
      ${told.isClosed ? tx.now : null}::timestamptz,
      ${tx.now}::timestamptz
    )
    on conflict (key) do update
    set returned_cents = greatest(r.returned_cents, excluded.returned_cents),
      is_reversed = r.is_reversed or excluded.is_reversed,
      closed_at = coalesce(r.closed_at, excluded.closed_at)
  `.execute(tx.db);
}

/** What went back of one payment; locked. */
export async function lockReturns(tx: Tx, intentId: string): Promise<readonly PaymentReturn[]> {
  const rows = await tx.db
    .selectFrom("payment_returns")
    .select(["key", "returned_cents", "is_reversed", "taken_nanos", "lost_nanos", "booked_count"])
    .where("intent_id", "=", intentId)
    .orderBy("key")
    .forUpdate()
    .execute();
  return rows.map((row) => ({
    key: row.key,
    returnedCents: row.returned_cents,
    isReversed: row.is_reversed,
    taken: nanos(row.taken_nanos),
    lost: nanos(row.lost_nanos),
    bookedCount: row.booked_count,
  }));
}

export async function storeBooked(
  tx: Tx,
  booked: Pick<PaymentReturn, "key" | "taken" | "lost" | "bookedCount">,
): Promise<void> {
  await tx.db
    .updateTable("payment_returns")
    .set({ taken_nanos: booked.taken, lost_nanos: booked.lost, booked_count: booked.bookedCount })
    .where("key", "=", booked.key)
    .execute();
}
