// The sources of a host's earnings.
import { sql } from "kysely";
import type { UserId } from "../../../../base/ids.ts";
import { integers, texts } from "../../../../db/arrays.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { storedKindOf, type AccountRef } from "../types.ts";

/** A host's earnings, and their granted part, in nano-dollars. */
export async function readEarnings(
  db: Reader,
  hostId: UserId,
): Promise<{ readonly balanceNanos: bigint; readonly grantedNanos: bigint }> {
  const { rows } = await sql<{ balance: bigint; granted: bigint }>`
    select balance_nanos - held_nanos as balance, granted_nanos as granted
    from ledger_accounts where coalesce(user_id, 0) = ${hostId}::integer and kind = 'earnings'
  `.execute(db);
  return { balanceNanos: rows[0]?.balance ?? 0n, grantedNanos: rows[0]?.granted ?? 0n };
}

/**
 * All earnings of a host, less those that went back: to renters for failures, after disputes, or by administrators.
 * Computed from the balance and the payouts, so that usage need not be read.
 */
export async function sumKeptEarnings(db: Reader, hostId: UserId): Promise<bigint> {
  const { rows } = await sql<{ kept: string }>`
    select (
      a.balance_nanos + (
        select coalesce(sum(t.amount_nanos), 0) from ledger_transfers t
        where t.debit_account_id = a.id and t.code in ('payout', 'fee', 'credit_transfer', 'grant_released')
      ) - (
        select coalesce(sum(t.amount_nanos), 0) from ledger_transfers t
        where t.credit_account_id = a.id and t.code in ('payout_returned', 'grant_released')
      )
    )::text as kept
    from ledger_accounts a where coalesce(a.user_id, 0) = ${hostId}::integer and a.kind = 'earnings'
  `.execute(db);
  return BigInt(rows[0]?.kept ?? "0");
}

/** Granted credit that a host has earned since a moment. */
export async function sumGrantedEarned(db: Reader, hostId: UserId, since: Date): Promise<bigint> {
  const { rows } = await sql<{ granted: string }>`
    select coalesce(sum(t.granted_nanos), 0)::text as granted
    from ledger_accounts a join ledger_transfers t on t.credit_account_id = a.id
    where coalesce(a.user_id, 0) = ${hostId}::integer and a.kind = 'earnings' and t.created_at >= ${since}::timestamptz
      and t.granted_nanos > 0
  `.execute(db);
  return BigInt(rows[0]?.granted ?? "0");
}

/** Cash of each of these users that a host has earned since a moment, from credit and deposits. */
export async function sumCashEarnedFrom(
  db: Reader,
  { hostId, payerIds, since }: { readonly hostId: UserId; readonly payerIds: readonly UserId[]; readonly since: Date },
): Promise<ReadonlyMap<UserId, bigint>> {
  if (payerIds.length === 0) return new Map();
  const { rows } = await sql<{ payer_id: UserId; cash: string }>`
    select d.user_id as payer_id, sum(t.amount_nanos - t.granted_nanos)::text as cash
    from ledger_accounts a
    join ledger_transfers t on t.credit_account_id = a.id
    join ledger_accounts d on d.id = t.debit_account_id
    where coalesce(a.user_id, 0) = ${hostId}::integer and a.kind = 'earnings' and t.created_at >= ${since}::timestamptz
      and d.user_id = any(${[...payerIds]}::integer[])
    group by d.user_id
  `.execute(db);
  return new Map(rows.map((row) => [row.payer_id, BigInt(row.cash)]));
}

/** The sum of a user's card payments, less the amounts that went back to cards. */
export async function sumPaidIn(db: Reader, userId: UserId): Promise<bigint> {
  const { rows } = await sql<{ paid_in: string }>`
    select (
      select coalesce(sum(t.amount_nanos), 0) from ledger_transfers t
      where t.credit_account_id = a.id and t.code in ('payment', 'payment_returned')
    ) - (
      select coalesce(sum(t.amount_nanos), 0) from ledger_transfers t
      where t.debit_account_id = a.id and t.code = 'payment_returned'
    ) as paid_in
    from ledger_accounts a where coalesce(a.user_id, 0) = ${userId}::integer and a.kind = 'credit'
  `.execute(db);
  return BigInt(rows[0]?.paid_in ?? "0");
}

/** Earnings of a host that went back to a renter: for failures of the host, and for returned card payments. */
export type WentBack = {
  readonly hostId: UserId;
  readonly renterId: UserId;
  readonly givenNanos: bigint;
  readonly takenNanos: bigint;
};

/**
 * Amounts that ever went back from these hosts to these renters; pairs without any are left out. When a renter spent
 * money of another user whose payment was returned, the money went back to that user; the transfer then names the
 * renter (`renter_id`).
 */
export async function listWentBack(
  db: Reader,
  { hostIds, renterIds }: { readonly hostIds: readonly UserId[]; readonly renterIds: readonly UserId[] },
): Promise<readonly WentBack[]> {
  const { rows } = await sql<{ host_id: UserId; renter_id: UserId; given: string; taken: string }>`
    select e.user_id as host_id, coalesce(t.renter_id, r.user_id) as renter_id,
      coalesce(sum(t.amount) filter (where t.code = 'host_credit'), 0)::text as given,
      coalesce(sum(t.amount) filter (where t.code = 'taken_back'), 0)::text as taken
    from ledger_accounts e
    join lateral (
      select code, amount_nanos as amount, credit_account_id as other_id, (cause ->> 'renter_id')::integer as renter_id
      from ledger_transfers
      where debit_account_id = e.id and code in ('host_credit', 'taken_back')
      union all
      select code, -amount_nanos, debit_account_id, (cause ->> 'renter_id')::integer from ledger_transfers
      where credit_account_id = e.id and code = 'taken_back'
    ) t on true
    join ledger_accounts r on r.id = t.other_id
    where coalesce(e.user_id, 0) = any(${[...hostIds]}::integer[]) and e.kind = 'earnings'
      and coalesce(t.renter_id, r.user_id) = any(${[...renterIds]}::integer[])
    group by e.user_id, coalesce(t.renter_id, r.user_id)
  `.execute(db);
  return rows.map((row) => ({
    hostId: row.host_id,
    renterId: row.renter_id,
    givenNanos: BigInt(row.given),
    takenNanos: BigInt(row.taken),
  }));
}

/**
 * Cash in the credit or the earnings of these users that no hold sets aside; the caller holds the locks of these
 * accounts.
 */
export async function readFreeCash(
  db: Reader,
  userIds: readonly UserId[],
  kind: "credit" | "earnings" | `deposit:${number}`,
): Promise<ReadonlyMap<UserId, bigint>> {
  const { rows } = await sql<{ user_id: UserId; cash: bigint }>`
    select user_id, greatest(least(balance_nanos - granted_nanos, balance_nanos - held_nanos), 0) as cash
    from ledger_accounts where coalesce(user_id, 0) = any(${[...userIds]}::integer[]) and kind = ${kind}::text
  `.execute(db);
  return new Map(rows.map((row) => [row.user_id, row.cash]));
}

/** Free cash of accounts of several kinds, in their order. */
export async function readFreeCashOf(db: Reader, accounts: readonly AccountRef[]): Promise<readonly bigint[]> {
  const users = accounts.map((account) => ("userId" in account ? account.userId : 0));
  const { rows } = await sql<{ cash: bigint }>`
    select greatest(least(a.balance_nanos - a.granted_nanos, a.balance_nanos - a.held_nanos), 0)::bigint as cash
    from unnest(${integers(users)}::integer[], ${texts(accounts.map(storedKindOf))}::text[])
      with ordinality as w (user_id, kind, place)
    left join ledger_accounts a on coalesce(a.user_id, 0) = w.user_id and a.kind = w.kind
    order by w.place
  `.execute(db);
  return rows.map(({ cash }) => cash);
}

/**
 * Sets the debt of a user's credit: how far it will be below its minimum balance after this amount has left, holds
 * subtracted; zero when it stays at the minimum or above. The caller holds the lock of the credit.
 */
export async function setDebt(tx: Tx, userId: UserId, leavingNanos: bigint): Promise<void> {
  await sql`
    update ledger_accounts
    set debt_nanos = greatest(0, floor_nanos - (balance_nanos - held_nanos - ${leavingNanos}::bigint))
    where coalesce(user_id, 0) = ${userId}::integer and kind = 'credit'
  `.execute(tx.db);
}

/** SQL for other stores: the users whose credit may be below zero, as rows of `user_id` and `debt_nanos`. */
export const debtors = sql`(select user_id, debt_nanos from ledger_accounts where kind = 'credit' and debt_nanos > 0)`;
