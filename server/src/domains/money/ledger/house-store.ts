import { sql } from "kysely";
import type { UserId } from "../../../base/ids.ts";
import { nanos, ZERO, type Nanos } from "../../../base/money.ts";
import type { Reader } from "../../../db/transaction.ts";

/** Money of one account in the ledger; usage that is not charged yet is still in its credit. */
export type UserMoney = {
  readonly credit: Nanos;
  /** The part of the credit that holds set aside. */
  readonly held: Nanos;
  readonly earnings: Nanos;
};

export const NO_MONEY: UserMoney = { credit: ZERO, held: ZERO, earnings: ZERO };

/** The money of each of these accounts that has any in the ledger. */
export async function listMoneyOf(db: Reader, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, UserMoney>> {
  const { rows } = await sql<{ user_id: UserId; credit: bigint; held: bigint; earnings: bigint }>`
    select user_id, coalesce(max(balance_nanos) filter (where kind = 'credit'), 0) as credit,
      coalesce(max(held_nanos) filter (where kind = 'credit'), 0) as held,
      coalesce(max(balance_nanos) filter (where kind = 'earnings'), 0) as earnings
    from ledger_accounts
    where coalesce(user_id, 0) = any(${[...userIds]}::integer[]) and kind in ('credit', 'earnings')
    group by user_id
  `.execute(db);
  return new Map(
    rows.map((row) => [
      row.user_id,
      { credit: nanos(row.credit), held: nanos(row.held), earnings: nanos(row.earnings) },
    ]),
  );
}
