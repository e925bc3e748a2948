// Movements of a host's earnings other than usage: fees, payouts, and amounts that are given or taken back.
import { sql } from "kysely";
import type { UserId } from "../../../../base/ids.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import type { Reader } from "../../../../db/transaction.ts";

/** The sum of movements under one code; payouts are summed one by one. Positive amounts came to the earnings. */
export type EarningsMovement = {
  readonly code: string;
  readonly payoutId: number | undefined;
  readonly amount: Nanos;
};

/** Sums the movements of a host's earnings within a period, usage excluded. */
export async function sumEarningsMovements(
  db: Reader,
  userId: UserId,
  { from, until }: { readonly from: Date; readonly until: Date },
): Promise<readonly EarningsMovement[]> {
  const within = sql`t.code not in ('usage_gpu', 'usage_storage', 'usage_bandwidth_up', 'usage_bandwidth_down')
    and t.created_at >= ${from}::timestamptz and t.created_at < ${until}::timestamptz`;
  const { rows } = await sql<{ code: string; payout_id: number | null; amount: string }>`
    with account as (
      select id from ledger_accounts where coalesce(user_id, 0) = ${userId}::integer and kind = 'earnings'
    ), moved as (
      select t.code, t.cause, t.amount_nanos as amount
      from account join ledger_transfers t on t.credit_account_id = account.id where ${within}
      union all
      select t.code, t.cause, -t.amount_nanos
      from account join ledger_transfers t on t.debit_account_id = account.id where ${within}
    )
    select code, case when code in ('payout', 'payout_returned') then (cause ->> 'payout_id')::integer end as payout_id,
      sum(amount)::text as amount
    from moved group by 1, 2 order by 1, 2
  `.execute(db);
  return rows.map((row) => ({
    code: row.code,
    payoutId: row.payout_id ?? undefined,
    amount: nanos(BigInt(row.amount)),
  }));
}

/** Users who ever earned something, in the order of their ids, after `after`. */
export async function listEarningsHolders(db: Reader, after: number, limit: number): Promise<readonly UserId[]> {
  const { rows } = await sql<{ id: UserId }>`
    select coalesce(user_id, 0) as id from ledger_accounts
    where coalesce(user_id, 0) > ${after}::integer and kind = 'earnings'
    order by coalesce(user_id, 0) limit ${limit}::integer
  `.execute(db);
  return rows.map(({ id }) => id);
}

/** Those of these hosts whose earnings moved within a period, usage included. */
export async function listEarnersAmong(
  db: Reader,
  userIds: readonly UserId[],
  { from, until }: { readonly from: Date; readonly until: Date },
): Promise<readonly UserId[]> {
  const within = sql`t.created_at >= ${from}::timestamptz and t.created_at < ${until}::timestamptz`;
  const { rows } = await sql<{ id: UserId }>`
    select u.id from unnest(${[...userIds]}::integer[]) as u (id)
    join ledger_accounts a on coalesce(a.user_id, 0) = u.id and a.kind = 'earnings'
    where exists (select from ledger_transfers t where t.credit_account_id = a.id and ${within})
      or exists (
        select from ledger_transfers t where t.debit_account_id = a.id and ${within}
          and t.code not in ('usage_gpu', 'usage_storage', 'usage_bandwidth_up', 'usage_bandwidth_down')
      )
    order by 1
  `.execute(db);
  return rows.map(({ id }) => id);
}
