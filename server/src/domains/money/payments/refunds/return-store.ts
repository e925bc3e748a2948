import { sql } from "kysely";
import type { Nanos } from "../../../../base/money.ts";
import type { UserId } from "../../../../base/ids.ts";
import { nanos } from "../../../../base/money.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";

/** A refund or a dispute, with the bookings made for it so far. */
export type PaymentReturn = {
  readonly key: string;
  readonly returnedCents: bigint;
  readonly isReversed: boolean;
  readonly taken: Nanos;
  readonly lost: Nanos;
  readonly bookedCount: number;
};

/** Stores the state of a return. The sum of refunds only grows, and a reversal stays, in any order of reports. */
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

/** The returns of one payment, locked. */
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

/** Payments of a user with a return that was not reversed. */
export async function listReturnedPayments(
  db: Reader,
  userId: UserId,
): Promise<readonly { readonly intentId: string; readonly settledAt: Date }[]> {
  const { rows } = await sql<{ intentId: string; settledAt: Date }>`
    select p.intent_id as "intentId", p.settled_at as "settledAt" from payments p
    where p.user_id = ${userId}::integer and p.settled_at is not null
      and exists (select from payment_returns r where r.intent_id = p.intent_id and r.taken_nanos > 0)
    order by p.settled_at
  `.execute(db);
  return rows;
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
