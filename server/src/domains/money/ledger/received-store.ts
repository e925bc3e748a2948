import { sql } from "kysely";
import type { UserId } from "../../../base/ids.ts";
import { nanos, type Nanos } from "../../../base/money.ts";
import type { Reader } from "../../../db/transaction.ts";

/** Credit transfers after a transfer, in the order of ids, up to where the order is surely complete. */
export type ReceivedCredit = {
  /** The last transfer that was read; undefined when there was none. */
  readonly lastId: bigint | undefined;
  /** Credit that users sent to others, summed by recipient. */
  readonly received: readonly { readonly userId: UserId; readonly amount: Nanos; readonly count: number }[];
};

type Row = {
  readonly last_id: bigint | null;
  readonly user_id: UserId | null;
  readonly amount: bigint | null;
  readonly count: number;
};

/** Reads at most `limit` transfers above `afterId` that were posted before `before`. */
export async function sumReceivedCredit(
  db: Reader,
  { afterId, before, limit }: { readonly afterId: bigint; readonly before: Date; readonly limit: number },
): Promise<ReceivedCredit> {
  const { rows } = await sql<Row>`
    with read as (
      select id, code, credit_account_id, amount_nanos, created_at from ledger_transfers
      where id > ${afterId}::bigint order by id limit ${limit}::integer
    ), complete as (
      select * from read
      where id < coalesce((select min(id) from read where created_at >= ${before}::timestamptz), 9223372036854775807)
    )
    select (select max(id) from complete) as last_id, a.user_id, sum(c.amount_nanos)::bigint as amount,
      count(c.id)::integer as count
    from (select) always
    left join complete c on c.code = 'credit_transfer'
    left join ledger_accounts a on a.id = c.credit_account_id
    group by a.user_id
    order by a.user_id
  `.execute(db);
  return {
    lastId: rows[0]?.last_id ?? undefined,
    received: rows.flatMap(({ user_id: userId, amount, count }) =>
      userId === null || amount === null ? [] : [{ userId, amount: nanos(amount), count }],
    ),
  };
}
