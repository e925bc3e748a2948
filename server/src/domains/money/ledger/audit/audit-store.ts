import { sql } from "kysely";
import type { LedgerAccountId } from "../../../../base/ids.ts";
import { invariant } from "../../../../base/invariant.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import type { Reader } from "../../../../db/transaction.ts";

/**
 * The starting point of an audit that trusts an earlier one: the sum of each account over all transfers before `at`. No
 * transfer from `at` on has an id below `nextId`.
 */
export type AuditedUpTo = {
  readonly at: Date;
  readonly nextId: bigint;
  readonly posted: ReadonlyMap<LedgerAccountId, bigint>;
};

/**
 * One difference that the ledger must never have: an amount as stored, beside the amount that follows from its parts.
 */
export type LedgerDifference =
  | { readonly kind: "sum_not_zero"; readonly sumNanos: Nanos }
  | { readonly kind: "orphan_transfers"; readonly transferCount: number }
  | AccountDifference<"balance_differs">
  | AccountDifference<"held_differs">
  | AccountDifference<"below_minimum">
  | AccountDifference<"granted_differs">;

type AccountDifference<Kind extends string> = {
  readonly kind: Kind;
  readonly accountId: LedgerAccountId;
  readonly storedNanos: Nanos;
  readonly expectedNanos: Nanos;
};

type AccountDifferenceKind = Extract<LedgerDifference, { accountId: LedgerAccountId }>["kind"];

export type LedgerAudit = {
  readonly isSound: boolean;
  readonly accountCount: number;
  readonly transferCount: number;
  readonly differences: readonly LedgerDifference[];
};

type SummaryRow = {
  readonly sum: string;
  readonly account_count: bigint;
  readonly transfer_count: bigint;
  readonly orphan_count: bigint;
  readonly broken: readonly AccountText[];
};

type AccountRow = {
  readonly id: LedgerAccountId;
  readonly balance: bigint;
  readonly held: bigint;
  readonly minimum: bigint;
  readonly posted: bigint;
  readonly pending: bigint;
  readonly granted: bigint;
  readonly moved: bigint;
};

/** Audits the whole ledger against itself; reads every transfer. */
export function auditLedger(db: Reader): Promise<LedgerAudit> {
  return auditLedgerAfter(db, undefined);
}

/**
 * Checks the ledger against itself in one snapshot: balances sum to zero, each balance is the sum of its transfers,
 * each held amount is the sum of its pending holds, and no account is below its minimum balance. Reads the transfers
 * since the last audit. Without a last audit it reads all transfers, and also compares each granted part with the
 * granted parts of its transfers.
 */
export async function auditLedgerAfter(db: Reader, last: AuditedUpTo | undefined): Promise<LedgerAudit> {
  const { rows } = await sql<SummaryRow>`
    with transfers as (
      select * from ledger_transfers where id >= ${last?.nextId ?? 0n}::bigint
        and created_at >= coalesce(${last?.at ?? null}::timestamptz, '-infinity')
    ),
    sides as (
      select debit_account_id as account_id, -amount_nanos::numeric as amount from transfers
      union all
      select credit_account_id, amount_nanos from transfers
      union all
      select account_id, posted from unnest(
        ${[...(last?.posted.keys() ?? [])]}::integer[], ${[...(last?.posted.values() ?? [])].map(String)}::numeric[]
      ) as audited (account_id, posted)
    ),
    granted_sides as (
      select debit_account_id as account_id, -granted_nanos::numeric as amount from transfers where granted_nanos > 0
      union all
      select credit_account_id, granted_nanos from transfers where granted_nanos > 0
    ),
    checked as (
      select a.id, a.balance_nanos as balance, a.held_nanos as held, a.floor_nanos - a.debt_nanos as minimum,
        coalesce(s.posted, 0) as posted, coalesce(h.pending, 0) as pending, a.granted_nanos as granted,
        case when ${last === undefined}::boolean then a.granted_opening_nanos + coalesce(g.moved, 0)
          else a.granted_nanos end as moved
      from ledger_accounts a
      left join (select account_id, sum(amount) as posted from sides group by account_id) s on s.account_id = a.id
      left join (
        select account_id, sum(amount_nanos) as pending from ledger_holds where state = 'pending' group by account_id
      ) h on h.account_id = a.id
      left join (select account_id, sum(amount) as moved from granted_sides group by account_id) g on g.account_id = a.id
    )
    select
      (select coalesce(sum(balance_nanos), 0)::text from ledger_accounts) as sum,
      (select count(*) from ledger_accounts) as account_count,
      (select count(*) from transfers) as transfer_count,
      (
        select count(*) from transfers t
        where not exists (select from ledger_accounts a where a.id = t.debit_account_id)
          or not exists (select from ledger_accounts a where a.id = t.credit_account_id)
      ) as orphan_count,
      coalesce(
        (
          select json_agg(json_build_object(
            'id', id, 'balance', balance::text, 'held', held::text, 'minimum', minimum::text,
            'posted', posted::text, 'pending', pending::text, 'granted', granted::text, 'moved', moved::text
          ) order by id)
          from checked
          where balance <> posted or held <> pending or balance - held < minimum or granted <> moved
        ),
        '[]'
      ) as broken
  `.execute(db);
  const [row] = rows;
  invariant(row !== undefined, "the audit answers one row");
  const sumNanos = nanos(BigInt(row.sum));
  const orphanCount = Number(row.orphan_count);
  const differences: LedgerDifference[] = [];
  if (sumNanos !== 0n) differences.push({ kind: "sum_not_zero", sumNanos });
  if (orphanCount > 0) differences.push({ kind: "orphan_transfers", transferCount: orphanCount });
  for (const account of row.broken.map(toRow)) differences.push(...differencesOf(account));
  return {
    isSound: differences.length === 0,
    accountCount: Number(row.account_count),
    transferCount: Number(row.transfer_count),
    differences,
  };
}

/** Amounts as text, because JSON numbers of the driver would lose digits. */
type AccountText = Readonly<
  Record<"balance" | "held" | "minimum" | "posted" | "pending" | "granted" | "moved", string>
> & {
  readonly id: LedgerAccountId;
};

function toRow({ id, balance, held, minimum, posted, pending, granted, moved }: AccountText): AccountRow {
  return {
    id,
    balance: BigInt(balance),
    held: BigInt(held),
    minimum: BigInt(minimum),
    posted: BigInt(posted),
    pending: BigInt(pending),
    granted: BigInt(granted),
    moved: BigInt(moved),
  };
}

function differencesOf(account: AccountRow): LedgerDifference[] {
  const { id, balance, held, minimum, posted, pending, granted, moved } = account;
  const differences: LedgerDifference[] = [];
  const add = (kind: AccountDifferenceKind, stored: bigint, expected: bigint) =>
    differences.push({ kind, accountId: id, storedNanos: nanos(stored), expectedNanos: nanos(expected) });
  if (balance !== posted) add("balance_differs", balance, posted);
  if (held !== pending) add("held_differs", held, pending);
  if (balance - held < minimum) add("below_minimum", balance - held, minimum);
  if (granted !== moved) add("granted_differs", granted, moved);
  return differences;
}
