// What an audit reads of payments and payouts: which transfers they must have led to.
import { sql } from "kysely";
import type { UserId } from "../../base/ids.ts";
import type { Reader } from "../../db/transaction.ts";
import { NANOS_PER_CENT } from "./cents.ts";

/** A transfer that there must be, by its key, between an account of this user and one of the house. */
export type ExpectedMovement = {
  /** `payment 3`, `payout 7`. */
  readonly subject: string;
  readonly key: string;
  readonly code: "payment" | "fee" | "payout" | "payout_returned";
  readonly userId: UserId;
  readonly amountNanos: bigint;
};

type Since = Date | undefined;

/** Of what was paid, invoiced or came back from a moment on. */
export async function listExpectedMovements(db: Reader, since: Since): Promise<readonly ExpectedMovement[]> {
  const from = since ?? null;
  const { rows: payments } = await sql<{ id: number; user_id: UserId; intent_id: string; amount_cents: bigint }>`
    select id, user_id, intent_id, amount_cents from payments
    where state = 'paid' and amount_cents is not null
      and settled_at >= coalesce(${from}::timestamptz, '-infinity')
    order by id
  `.execute(db);
  const { rows: payouts } = await sql<{
    readonly id: number;
    readonly user_id: UserId;
    readonly fee_nanos: bigint;
    readonly amount_nanos: bigint;
    readonly is_failed: boolean;
  }>`
    select id, user_id, fee_nanos, amount_nanos, state = 'failed' as is_failed from payouts
    where created_at >= coalesce(${from}::timestamptz, '-infinity')
      or settled_at >= coalesce(${from}::timestamptz, '-infinity')
    order by id
  `.execute(db);
  return [
    ...payments.map((row): ExpectedMovement => ({
      subject: `payment ${row.id}`,
      key: `payment:stripe:${row.intent_id}`,
      code: "payment",
      userId: row.user_id,
      amountNanos: row.amount_cents * NANOS_PER_CENT,
    })),
    ...payouts.flatMap((row): readonly ExpectedMovement[] => {
      const own = { subject: `payout ${row.id}`, userId: row.user_id, amountNanos: row.amount_nanos };
      const paid = { ...own, key: `payout:${row.id}`, code: "payout" as const };
      const fee = { ...own, key: `fee:payout:${row.id}`, code: "fee" as const, amountNanos: row.fee_nanos };
      const returned = { ...own, key: `payout_returned:${row.id}`, code: "payout_returned" as const };
      return [paid, ...(row.fee_nanos > 0n ? [fee] : []), ...(row.is_failed ? [returned] : [])];
    }),
  ];
}

/** Which of these payments were paid, and which of these payouts were made. */
export async function listMadeMovements(
  db: Reader,
  { paymentIds, payoutIds }: { readonly paymentIds: readonly number[]; readonly payoutIds: readonly number[] },
): Promise<{ readonly paymentIds: ReadonlySet<number>; readonly payoutIds: ReadonlySet<number> }> {
  const payments = await sql<{ id: number }>`
    select id from payments where id = any(${paymentIds}::integer[]) and state = 'paid'
  `.execute(db);
  const payouts = await sql<{ id: number }>`select id from payouts where id = any(${payoutIds}::integer[])`.execute(db);
  return {
    paymentIds: new Set(payments.rows.map(({ id }) => id)),
    payoutIds: new Set(payouts.rows.map(({ id }) => id)),
  };
}
