// Balances of a user's credit between movements, for lists of movements.
import { sql } from "kysely";
import type { UserId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";

/** A user's credit now, and what movements after each of these movements added to it, usage left out. */
export type LaterMovements = {
  readonly balanceNanos: bigint;
  readonly netAfter: ReadonlyMap<bigint, bigint>;
};

/** Adds up the movements of a user's credit after each of these movements, in the order of their times and ids. */
export async function sumMovementsAfter(
  db: Reader,
  userId: UserId,
  transferIds: readonly bigint[],
): Promise<LaterMovements> {
  const within = sql`t.code not in ('usage_gpu', 'usage_storage', 'usage_bandwidth_up', 'usage_bandwidth_down')`;
  const { rows } = await sql<{ balance: bigint; id: bigint | null; net: string | null }>`
    with account as (
      select id, balance_nanos from ledger_accounts
      where coalesce(user_id, 0) = ${userId}::integer and kind = 'credit'
    ), moved as (
      select t.id, t.created_at, t.amount_nanos as amount
      from account a join ledger_transfers t on t.credit_account_id = a.id where ${within}
      union all
      select t.id, t.created_at, -t.amount_nanos
      from account a join ledger_transfers t on t.debit_account_id = a.id where ${within}
    ), later as (
      select id, coalesce(sum(amount) over (
        order by created_at desc, id desc rows between unbounded preceding and 1 preceding
      ), 0)::text as net
      from moved
    )
    select account.balance_nanos as balance, later.id, later.net
    from account left join later on later.id = any(${[...transferIds]}::bigint[])
  `.execute(db);
  const found = rows.flatMap(({ id, net }) => (id === null || net === null ? [] : [[id, BigInt(net)] as const]));
  return { balanceNanos: rows[0]?.balance ?? 0n, netAfter: new Map(found) };
}
