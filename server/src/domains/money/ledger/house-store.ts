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

/** Money of one kind that moved since two moments. */
export type Movement = { readonly code: string; readonly day: Nanos; readonly month: Nanos };

/** Money of everybody together, and of the house. */
export type House = {
  readonly credit: Nanos;
  readonly held: Nanos;
  readonly deposits: Nanos;
  readonly earnings: Nanos;
  /** The sum by which credit and earnings of accounts are below zero. */
  readonly debt: Nanos;
  readonly fees: Nanos;
  readonly movements: readonly Movement[];
};

/** Kinds of transfers that bring money in, take it out, or make it. Usage only moves it between accounts. */
const HOUSE_CODES = [
  "payment",
  "payment_returned",
  "payout",
  "payout_returned",
  "fee",
  "credit_granted",
  "correction",
  "write_off",
];

export async function readHouse(
  db: Reader,
  { day, month }: { readonly day: Date; readonly month: Date },
): Promise<House> {
  const { rows } = await sql<Record<"credit" | "held" | "deposits" | "earnings" | "debt" | "fees", string>>`
    select coalesce(sum(balance_nanos) filter (where kind = 'credit'), 0)::text as credit,
      coalesce(sum(held_nanos) filter (where kind = 'credit'), 0)::text as held,
      coalesce(sum(balance_nanos) filter (where kind like 'deposit:%'), 0)::text as deposits,
      coalesce(sum(balance_nanos) filter (where kind = 'earnings'), 0)::text as earnings,
      coalesce(-sum(balance_nanos) filter (where kind in ('credit', 'earnings') and balance_nanos < 0), 0)::text as debt,
      coalesce(sum(balance_nanos) filter (where kind = 'fees'), 0)::text as fees
    from ledger_accounts
  `.execute(db);
  const [sums] = rows;
  const amount = (text: string | undefined) => nanos(BigInt(text ?? "0"));
  const { rows: moved } = await sql<{ code: string; day: string; month: string }>`
    select code, coalesce(sum(amount_nanos) filter (where created_at >= ${day}::timestamptz), 0)::text as day,
      sum(amount_nanos)::text as month
    from ledger_transfers
    where code = any(${HOUSE_CODES}::text[])
      and code not in ('usage_gpu', 'usage_storage', 'usage_bandwidth_up', 'usage_bandwidth_down')
      and created_at >= ${month}::timestamptz
    group by code order by code
  `.execute(db);
  return {
    credit: amount(sums?.credit),
    held: amount(sums?.held),
    deposits: amount(sums?.deposits),
    earnings: amount(sums?.earnings),
    debt: amount(sums?.debt),
    fees: amount(sums?.fees),
    movements: moved.map((row) => ({ code: row.code, day: amount(row.day), month: amount(row.month) })),
  };
}
