// Payments and payouts as the audit reads them: the transfers that each must have led to.
import { sql } from "kysely";
import type { UserId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";
import { NANOS_PER_CENT } from "./rules/cents.ts";
import { returnedKey } from "./payouts/rules/payout.ts";

/**
 * The transfers that a payment or payout must have, by their keys, between an account of its user and one of the house.
 */
export type ExpectedMovement = {
  /** `payment 3`, `payout 7`. */
  readonly subject: string;
  /** One key, or several for a payout that came back in steps. */
  readonly keys: readonly string[];
  readonly code: "payment" | "fee" | "payout" | "payout_returned";
  readonly userId: UserId;
  /** The sum of all these transfers. */
  readonly amountNanos: bigint;
};

type Since = Date | undefined;

/** The expected transfers of everything that was paid or invoiced, or that came back, since a moment. */
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

/** A host or a payout with an amount that does not follow from the host's payouts. */
export type WrongPayout = {
  readonly subject: string;
  readonly problem: string;
  readonly storedNanos: bigint;
  readonly expectedNanos: bigint;
};

/**
 * Fees that differ from their share of the earnings, and hosts whose settled part (earnings that have borne the fee)
 * differs from the one that their payouts leave: earnings, less fee and payout, plus amounts that came back.
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
    select 'payout ' || id as subject, 'its fee is not its share of the earnings' as problem,
      fee_nanos::text as stored, div(greatest(earned_nanos, 0)::numeric * fee_ppm, 1000000)::text as expected
    from recent
    where fee_nanos <> div(greatest(earned_nanos, 0)::numeric * fee_ppm, 1000000)
    union all
    select 'earnings of user ' || user_id, 'its settled part is not the one that its payouts leave',
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

/** Those of these payments that were paid, and those of these payouts that exist. */
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
