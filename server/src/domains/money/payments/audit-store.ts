// What an audit reads of payments and payouts: which transfers they must have led to.
import { sql } from "kysely";
import type { UserId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";
import { NANOS_PER_CENT } from "./rules/cents.ts";
import { returnedKey } from "./payouts/rules/payout.ts";

/** Transfers that there must be, by their keys, between an account of this user and one of the house. */
export type ExpectedMovement = {
  /** `payment 3`, `payout 7`. */
  readonly subject: string;
  /** One, but for a payout that came back in several steps. */
  readonly keys: readonly string[];
  readonly code: "payment" | "fee" | "payout" | "payout_returned";
  readonly userId: UserId;
  /** Of all of them together. */
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
    readonly returned_nanos: bigint;
    readonly step_count: number;
  }>`
    select id, user_id, fee_nanos, amount_nanos,
      case when state = 'failed' then amount_nanos else returned_nanos end as returned_nanos,
      greatest(return_count, case when state = 'failed' then 1 else 0 end) as step_count
    from payouts
    where created_at >= coalesce(${from}::timestamptz, '-infinity')
      or settled_at >= coalesce(${from}::timestamptz, '-infinity')
      or returned_at >= coalesce(${from}::timestamptz, '-infinity')
    order by id
  `.execute(db);
  return [
    ...payments.map((row): ExpectedMovement => ({
      subject: `payment ${row.id}`,
      keys: [`payment:stripe:${row.intent_id}`],
      code: "payment",
      userId: row.user_id,
      amountNanos: row.amount_cents * NANOS_PER_CENT,
    })),
    ...payouts.flatMap((row): readonly ExpectedMovement[] => {
      const own = { subject: `payout ${row.id}`, userId: row.user_id, amountNanos: row.amount_nanos };
      const paid = { ...own, keys: [`payout:${row.id}`], code: "payout" as const };
      const fee = { ...own, keys: [`fee:payout:${row.id}`], code: "fee" as const, amountNanos: row.fee_nanos };
      const returned = {
        ...own,
        keys: Array.from({ length: row.step_count }, (_, index) => returnedKey(row.id, index + 1)),
        code: "payout_returned" as const,
        amountNanos: row.returned_nanos,
      };
      return [paid, ...(row.fee_nanos > 0n ? [fee] : []), ...(row.step_count > 0 ? [returned] : [])];
    }),
  ];
}

/** A host, or a payout, with something that does not follow from its payouts. */
export type WrongPayout = {
  readonly subject: string;
  readonly problem: string;
  readonly storedNanos: bigint;
  readonly expectedNanos: bigint;
};

/**
 * Fees that are not their share of what was earned, and hosts of whose earnings another part is noted as having borne its
 * fee than their payouts left: of each what was earned, less its fee and what was paid out, and what came back.
 */
export async function listWrongPayouts(db: Reader, since: Since): Promise<readonly WrongPayout[]> {
  const from = since ?? null;
  const { rows } = await sql<Pick<WrongPayout, "subject" | "problem"> & { stored: string; expected: string }>`
    with recent as (
      select * from payouts
      where created_at >= coalesce(${from}::timestamptz, '-infinity')
        or settled_at >= coalesce(${from}::timestamptz, '-infinity')
        or returned_at >= coalesce(${from}::timestamptz, '-infinity')
    ), made as (
      select user_id, sum(
        greatest(earned_nanos, 0)::numeric - fee_nanos - amount_nanos
        + case when state = 'failed' then amount_nanos else returned_nanos end
      ) as settled
      from payouts
      where ${from}::timestamptz is null or user_id in (select user_id from recent)
      group by user_id
    )
    select 'payout ' || id as subject, 'its fee is not its share of what was earned' as problem,
      fee_nanos::text as stored, div(greatest(earned_nanos, 0)::numeric * fee_ppm, 1000000)::text as expected
    from recent
    where fee_nanos <> div(greatest(earned_nanos, 0)::numeric * fee_ppm, 1000000)
    union all
    select 'earnings of user ' || user_id, 'another part has borne its fee than its payouts left',
      coalesce(b.settled_nanos, 0)::text, coalesce(made.settled, 0)::text
    from payout_bases b full join made using (user_id)
    where coalesce(b.settled_nanos, 0) <> coalesce(made.settled, 0)
      and (${from}::timestamptz is null or made.user_id is not null)
    order by 1
  `.execute(db);
  return rows.map(({ subject, problem, stored, expected }) => ({
    subject,
    problem,
    storedNanos: BigInt(stored),
    expectedNanos: BigInt(expected),
  }));
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
