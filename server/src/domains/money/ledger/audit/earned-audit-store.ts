// Sums of hosts' earnings, as the audit reads them.
import { sql } from "kysely";
import type { UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { within, type TransferRange } from "./audited-transfer-store.ts";
import { EARNED_DAY, EARNED_MACHINE, EARNED_CODES } from "../earnings/earnings-store.ts";

/** A daily sum (days are UTC, since 1970) that differs from its transfers; a missing sum counts as 0. */
export type WrongEarning = {
  readonly hostId: UserId;
  readonly day: number;
  readonly machineId: number;
  readonly code: string;
  readonly storedNanos: bigint;
  readonly expectedNanos: bigint;
};

const DAY_MS = 86_400_000;

/**
 * Adds up earnings of each day from that of `from` on, as far as the loop has added them up, and returns the sums that
 * differ.
 */
export async function listWrongEarnings(
  db: Reader,
  from: Date | undefined,
): Promise<{ readonly examined: number; readonly wrong: readonly WrongEarning[] }> {
  const fromDay = from === undefined ? 0 : Math.floor(from.getTime() / DAY_MS);
  type Text = Omit<WrongEarning, "storedNanos" | "expectedNanos"> & { stored: string; expected: string };
  const { rows } = await sql<Text>`
    with expected as (
      select a.id as account_id, ${EARNED_DAY} as day, ${EARNED_MACHINE} as machine_id, t.code,
        sum(t.amount_nanos) as amount
      from ledger_accounts a join ledger_transfers t on t.credit_account_id = a.id
      where a.kind = 'earnings' and t.code = any (${EARNED_CODES}::text[])
        and t.created_at >= ${new Date(fromDay * DAY_MS)}::timestamptz
        and t.created_at < (select counted_until_at from ledger_earned_clock)
      group by 1, 2, 3, 4
    ), stored as (
      select account_id, day, machine_id, code, amount_nanos as amount from ledger_earned_days
      where day >= ${fromDay}::integer
    )
    select a.user_id as "hostId", day, machine_id as "machineId", code, coalesce(stored.amount, 0)::text as stored,
      coalesce(expected.amount, 0)::text as expected
    from stored full join expected using (account_id, day, machine_id, code)
    join ledger_accounts a on a.id = account_id
    where stored.amount is distinct from expected.amount
    order by 1, 2, 3, 4
  `.execute(db);
  const counted = await sql<{ count: number }>`
    select count(*)::integer as count from ledger_earned_days where day >= ${fromDay}::integer
  `.execute(db);
  return {
    examined: counted.rows[0]?.count ?? 0,
    wrong: rows.map(({ stored, expected, ...row }) => ({
      ...row,
      storedNanos: BigInt(stored),
      expectedNanos: BigInt(expected),
    })),
  };
}

/** A transfer that took back more earnings than the host had earned and kept until then. */
export type OverTaking = {
  readonly transferId: bigint;
  readonly code: string;
  readonly hostId: UserId;
  readonly takenNanos: bigint;
  readonly keptNanos: bigint;
};

/**
 * Transfers of the range by which administrators and disputes took back more than a host had earned, less what went
 * back before. Payouts, fees and releases of grants are not counted.
 */
export async function listOverTakings(
  db: Reader,
  range: TransferRange,
): Promise<{ readonly examined: number; readonly over: readonly OverTaking[] }> {
  const { rows } = await sql<{ id: string; code: string; host_id: UserId; taken: bigint; kept: string }>`
    select t.id::text, t.code, a.user_id as host_id, t.amount_nanos as taken, (earned.amount - gone.amount)::text as kept
    from ledger_transfers t
    join ledger_accounts a on a.id = t.debit_account_id and a.kind = 'earnings'
    cross join lateral (
      select coalesce(sum(x.amount_nanos), 0) as amount from ledger_transfers x
      where x.credit_account_id = a.id and x.id < t.id and x.code not in ('payout_returned', 'grant_released')
    ) as earned
    cross join lateral (
      select coalesce(sum(x.amount_nanos), 0) as amount from ledger_transfers x
      where x.debit_account_id = a.id and x.id < t.id
        and x.code in ('host_credit', 'taken_back', 'earnings_taken_back', 'correction')
        and x.code not in ('usage_gpu', 'usage_storage', 'usage_bandwidth_up', 'usage_bandwidth_down')
    ) as gone
    where t.code in ('earnings_taken_back', 'taken_back', 'correction') and ${within(range)}
    order by t.id
  `.execute(db);
  const all = rows.map((row) => ({
    transferId: BigInt(row.id),
    code: row.code,
    hostId: row.host_id,
    takenNanos: row.taken,
    keptNanos: BigInt(row.kept),
  }));
  return { examined: all.length, over: all.filter(({ takenNanos, keptNanos }) => takenNanos > keptNanos) };
}
