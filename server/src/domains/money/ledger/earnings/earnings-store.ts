import { sql } from "kysely";
import { asId, type MachineId, type UserId } from "../../../../base/ids.ts";
import { invariant } from "../../../../base/invariant.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { USAGE_CODES, type UsageCode } from "../types.ts";

/** Earnings of one machine for one component on one day (UTC). */
export type EarningSum = {
  /** Days since 1970. */
  readonly day: number;
  /** The machine; undefined for other earnings, such as the rent of a network disk. */
  readonly machineId: MachineId | undefined;
  readonly code: UsageCode;
  readonly amount: Nanos;
};

export type EarningFilter = {
  /** Days since 1970, first and last included. */
  readonly first: number;
  readonly last: number;
  readonly machineId?: MachineId | undefined;
  /** Several machines; undefined for all of them. */
  readonly machineIds?: readonly number[] | undefined;
};

const DAY_MS = 86_400_000;
export const EARNED_CODES = [...USAGE_CODES];
/** SQL: the UTC day of a transfer `t`, since 1970. */
export const EARNED_DAY = sql`floor(extract(epoch from t.created_at) / 86400)::integer`;
export const EARNED_MACHINE = sql`coalesce((t.cause ->> 'machine_id')::integer, 0)`;

/** Sums the usage that a host earned by day and machine, oldest day first. */
export async function sumEarningsOf(db: Reader, hostId: UserId, filter: EarningFilter): Promise<readonly EarningSum[]> {
  const { rows } = await sql<{ day: number; machine_id: number; code: string; amount: string }>`
    ${earned(hostId, filter)}
    select day, machine_id, code, sum(amount_nanos)::text as amount from earned
    group by day, machine_id, code
    order by day, machine_id, code
  `.execute(db);
  return rows.map(({ day, machine_id: machine, code, amount }): EarningSum => ({
    day,
    machineId: machine === 0 ? undefined : asId<MachineId>(machine),
    code: usageCodeOf(code),
    amount: nanos(BigInt(amount)),
  }));
}

/** The sum of one component over a day, a machine, or everything that was asked for. */
export type EarningTotal = Pick<EarningSum, "code" | "amount"> & {
  /** The day or the id of the machine; zero for other earnings, and for the sum of everything. */
  readonly of: number;
};

/** Sums the usage that a host earned by one key only, in its order: years of many machines stay few rows. */
export async function totalEarningsBy(
  db: Reader,
  hostId: UserId,
  by: "day" | "machine" | "nothing",
  filter: EarningFilter,
): Promise<readonly EarningTotal[]> {
  const key = { day: sql`day`, machine: sql`machine_id`, nothing: sql`0` }[by];
  const { rows } = await sql<{ of: number; code: string; amount: string }>`
    ${earned(hostId, filter)}
    select of, code, sum(amount_nanos)::text as amount
    from (select ${key}::integer as of, code, amount_nanos from earned) as keyed
    group by of, code
    order by of, code
  `.execute(db);
  return rows.map(({ of, code, amount }) => ({ of, code: usageCodeOf(code), amount: nanos(BigInt(amount)) }));
}

/** SQL: a query that begins with the usage that a host earned, as `earned`: daily sums as far as they reach. */
function earned(hostId: UserId, { first, last, machineId, machineIds }: EarningFilter) {
  const [from, to] = [new Date(first * DAY_MS), new Date((last + 1) * DAY_MS)];
  const only = machineId === undefined ? machineIds : [machineId];
  const machines = only === undefined ? null : [...only];
  return sql`
    with account as (
      select id from ledger_accounts where coalesce(user_id, 0) = ${hostId}::integer and kind = 'earnings'
    ), earned as (
      select d.day, d.machine_id, d.code, d.amount_nanos
      from ledger_earned_days d join account on account.id = d.account_id
      where d.day >= ${first}::integer and d.day <= ${last}::integer
        and (${machines}::integer[] is null or d.machine_id = any (${machines}::integer[]))
      union all
      select ${EARNED_DAY}, ${EARNED_MACHINE}, t.code, t.amount_nanos
      from ledger_transfers t join account on account.id = t.credit_account_id
      where t.code = any (${EARNED_CODES}::text[]) and t.created_at < ${to}::timestamptz
        and t.created_at >= greatest(${from}::timestamptz, (select counted_until_at from ledger_earned_clock))
        and (${machines}::integer[] is null or ${EARNED_MACHINE} = any (${machines}::integer[]))
    )`;
}

function usageCodeOf(code: string): UsageCode {
  const known = USAGE_CODES.find((candidate) => candidate === code);
  invariant(known !== undefined, `the ledger holds an unknown usage: ${code}`);
  return known;
}

/** Longest age of an open transaction: transfers before it are all committed. */
const LAG_MS = 900_000;
/** Longest period that one run adds up. */
const STRETCH_MS = 6 * 3_600_000;

/**
 * Adds up the earnings of the next period; returns the number of sums that changed. Locks the clock's row, so that one
 * process does it at a time.
 */
export async function addUpEarnings(tx: Tx): Promise<number> {
  const { rows } = await sql<{ counted: Date | null; earliest: Date | null }>`
    select counted_until_at as counted, case when counted_until_at is null then (
      select min(first.created_at) from ledger_accounts a cross join lateral (
        select created_at from ledger_transfers where credit_account_id = a.id order by created_at limit 1
      ) as first
      where a.kind = 'earnings'
    ) end as earliest
    from ledger_earned_clock for update
  `.execute(tx.db);
  const since = rows[0]?.counted ?? rows[0]?.earliest ?? undefined;
  const until = new Date(Math.min(tx.now.getTime() - LAG_MS, (since?.getTime() ?? 0) + STRETCH_MS));
  if (since === undefined || until <= since) return 0;
  const added = await sql`
    insert into ledger_earned_days (account_id, day, machine_id, code, amount_nanos)
    select a.id, ${EARNED_DAY}, ${EARNED_MACHINE}, t.code, sum(t.amount_nanos)::bigint
    from ledger_accounts a join ledger_transfers t on t.credit_account_id = a.id
    where a.kind = 'earnings' and t.code = any (${EARNED_CODES}::text[])
      and t.created_at >= ${since}::timestamptz and t.created_at < ${until}::timestamptz
    group by 1, 2, 3, 4
    on conflict (account_id, day, machine_id, code)
      do update set amount_nanos = ledger_earned_days.amount_nanos + excluded.amount_nanos
  `.execute(tx.db);
  await tx.db.updateTable("ledger_earned_clock").set({ counted_until_at: until }).execute();
  return Number(added.numAffectedRows ?? 0n);
}
