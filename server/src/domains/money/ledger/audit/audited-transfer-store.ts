// Transfers and holds as the audit reads them, to compare them with their causes.
import { sql } from "kysely";
import type { InstanceId, LedgerAccountId, LedgerCapId, UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { parseCapPeriod, parseCapScope } from "../caps/cap-scope.ts";
import { asHoldId, asTransferId, USAGE_CODES } from "../types.ts";
import type { CapPeriod, CapScope, HoldId, TransferId } from "../types.ts";

/** Transfers made at `from` or later and before `to`; none of them has an id below `nextId`. */
export type TransferRange = {
  readonly nextId: bigint;
  readonly from: Date | undefined;
  readonly to: Date | undefined;
};

/** A transfer with the owners and kinds of its accounts, as they are stored: `deposit:7`. */
export type AuditedTransfer = {
  readonly id: TransferId;
  readonly key: string;
  readonly amountNanos: bigint;
  readonly code: string;
  readonly debit: { readonly userId: UserId | undefined; readonly kind: string };
  readonly credit: { readonly userId: UserId | undefined; readonly kind: string };
  readonly createdAt: Date;
};

export async function listAuditedTransfers(
  db: Reader,
  ids: readonly bigint[],
): Promise<ReadonlyMap<bigint, AuditedTransfer>> {
  const rows = await db
    .selectFrom("ledger_transfers as t")
    .innerJoin("ledger_accounts as d", "d.id", "t.debit_account_id")
    .innerJoin("ledger_accounts as c", "c.id", "t.credit_account_id")
    .select(["t.id", "t.key", "t.amount_nanos", "t.code", "t.created_at"])
    .select(["d.user_id as debit_user_id", "d.kind as debit_kind"])
    .select(["c.user_id as credit_user_id", "c.kind as credit_kind"])
    .where("t.id", "=", sql<bigint>`any(${ids}::bigint[])`)
    .execute();
  return new Map(
    rows.map((row) => [
      row.id,
      {
        id: asTransferId(row.id),
        key: row.key,
        amountNanos: row.amount_nanos,
        code: row.code,
        debit: { userId: row.debit_user_id ?? undefined, kind: row.debit_kind },
        credit: { userId: row.credit_user_id ?? undefined, kind: row.credit_kind },
        createdAt: row.created_at,
      },
    ]),
  );
}

export type NamedTransfer = Pick<AuditedTransfer, "id" | "key" | "amountNanos" | "code" | "debit" | "credit"> & {
  /**
   * The payment, payout, return, run or arrears that the transfer's cause names; undefined for those that it does not
   * name.
   */
  readonly paymentId: number | undefined;
  readonly payoutId: number | undefined;
  readonly returnKey: string | undefined;
  readonly instanceId: number | undefined;
  readonly generation: number | undefined;
  readonly arrearsId: number | undefined;
};

/** The transfers with these keys, and those of the range with these codes. */
export async function listNamedTransfers(
  db: Reader,
  {
    keys,
    codes,
    range,
  }: { readonly keys: readonly string[]; readonly codes: readonly string[]; readonly range: TransferRange },
): Promise<readonly NamedTransfer[]> {
  const { rows } = await sql<{
    readonly id: bigint;
    readonly key: string;
    readonly amount: bigint;
    readonly code: string;
    readonly debit_user_id: UserId | null;
    readonly debit_kind: string;
    readonly credit_user_id: UserId | null;
    readonly credit_kind: string;
    readonly payment_id: number | null;
    readonly payout_id: number | null;
    readonly return_key: string | null;
    readonly instance_id: number | null;
    readonly generation: number | null;
    readonly arrears_id: number | null;
  }>`
    select t.id, t.key, t.amount_nanos as amount, t.code, d.user_id as debit_user_id, d.kind as debit_kind,
      c.user_id as credit_user_id, c.kind as credit_kind, (t.cause ->> 'payment_id')::integer as payment_id,
      (t.cause ->> 'payout_id')::integer as payout_id, t.cause ->> 'return' as return_key,
      (t.cause ->> 'instance_id')::integer as instance_id, (t.cause ->> 'generation')::integer as generation,
      (t.cause ->> 'arrears_id')::integer as arrears_id
    from (
      select * from ledger_transfers t where t.key = any (${keys}::text[])
      union
      select * from ledger_transfers t where t.code = any (${codes}::text[]) and ${within(range)}
    ) t
    join ledger_accounts d on d.id = t.debit_account_id
    join ledger_accounts c on c.id = t.credit_account_id
    order by t.id
  `.execute(db);
  return rows.map((row) => ({
    id: asTransferId(row.id),
    key: row.key,
    amountNanos: row.amount,
    code: row.code,
    debit: { userId: row.debit_user_id ?? undefined, kind: row.debit_kind },
    credit: { userId: row.credit_user_id ?? undefined, kind: row.credit_kind },
    paymentId: row.payment_id ?? undefined,
    payoutId: row.payout_id ?? undefined,
    returnKey: row.return_key ?? undefined,
    instanceId: row.instance_id ?? undefined,
    generation: row.generation ?? undefined,
    arrearsId: row.arrears_id ?? undefined,
  }));
}

/** The condition of a `where` clause for transfers within the range. */
export function within({ nextId, from, to }: TransferRange) {
  return sql<boolean>`t.id >= ${nextId}::bigint
    and t.created_at >= coalesce(${from ?? null}::timestamptz, '-infinity')
    and t.created_at < coalesce(${to ?? null}::timestamptz, 'infinity')`;
}

/** A run of 4096 ids: how many are used, and a fingerprint by which two lists are compared without reading them. */
export type IdBucket = { readonly bucket: bigint; readonly count: number; readonly fingerprint: string };

/** SQL: the transfer `t` pays for usage. The transfers by which a deposit ends early pay for none. */
const IS_USE = sql<boolean>`t.code = any (${[...USAGE_CODES]}::text[]) and t.key not like 'deposit:%'`;

export async function listUsageBuckets(db: Reader, range: TransferRange): Promise<readonly IdBucket[]> {
  const { rows } = await sql<IdBucket>`
    select t.id >> 12 as bucket, count(*)::integer as count,
      sum(hashint8extended(t.id, 0)::numeric)::text as fingerprint
    from ledger_transfers t
    where ${IS_USE} and ${within(range)}
    group by 1
    order by 1
  `.execute(db);
  return rows;
}

/** The usage transfers of one bucket. */
export async function listUsageIds(db: Reader, range: TransferRange, bucket: bigint): Promise<readonly bigint[]> {
  const { rows } = await sql<{ id: bigint }>`
    select t.id from ledger_transfers t
    where t.id >= ${bucket}::bigint << 12 and t.id < (${bucket}::bigint + 1) << 12
      and ${IS_USE} and ${within(range)}
    order by t.id
  `.execute(db);
  return rows.map(({ id }) => id);
}

/** A run of 4096 ids, with the checksum of all fields of their rows. */
export type ChecksumPart = { readonly bucket: bigint; readonly count: number; readonly sha256: string };

export async function listTransferChecksums(db: Reader, range: TransferRange): Promise<readonly ChecksumPart[]> {
  const { rows } = await sql<ChecksumPart>`
    select bucket, count(*)::integer as count,
      encode(sha256(convert_to(string_agg(said, E'\n' order by id), 'UTF8')), 'hex') as sha256
    from (
      select t.id, t.id >> 12 as bucket, json_build_array(
        t.id, t.key, t.debit_account_id, t.credit_account_id, t.amount_nanos, t.code, t.cause, t.description,
        extract(epoch from t.created_at)
      )::text as said
      from ledger_transfers t
      where ${within(range)}
    ) rows
    group by bucket
    order by bucket
  `.execute(db);
  return rows;
}

/** Sums the transfers of a range for each account that they touched, in nano-dollars. */
export async function sumPosted(db: Reader, range: TransferRange): Promise<ReadonlyMap<LedgerAccountId, bigint>> {
  const { rows } = await sql<{ account_id: LedgerAccountId; posted: string }>`
    select side.account_id, sum(side.amount)::text as posted
    from ledger_transfers t
    cross join lateral (
      values (t.debit_account_id, -t.amount_nanos::numeric), (t.credit_account_id, t.amount_nanos::numeric)
    ) as side (account_id, amount)
    where ${within(range)}
    group by side.account_id
  `.execute(db);
  return new Map(rows.map((row) => [row.account_id, BigInt(row.posted)]));
}

/** The lowest id of a transfer made at `from` or later; one above the highest id when there is none. */
export async function findNextTransferId(db: Reader, from: Date, atLeast: bigint): Promise<bigint> {
  const { rows } = await sql<{ id: bigint }>`
    select coalesce(
      (
        select t.id from ledger_transfers t
        where t.id >= ${atLeast}::bigint and t.created_at >= ${from}::timestamptz order by t.id limit 1
      ),
      (select max(t.id) + 1 from ledger_transfers t),
      1
    )::bigint as id
  `.execute(db);
  return rows[0]?.id ?? 1n;
}

/**
 * The amounts that moved through the deposit of an instance, and its balance. At its end the remainder is divided
 * between renter, host and house; all three shares count as refunded.
 */
export type DepositFlow = {
  readonly accountId: LedgerAccountId;
  readonly userId: UserId;
  readonly instanceId: InstanceId;
  readonly balanceNanos: bigint;
  readonly prepaidNanos: bigint;
  readonly refundedNanos: bigint;
  readonly usedNanos: bigint;
  /** Credit that the host's failures returned to the deposit. */
  readonly creditedNanos: bigint;
  /** Movements of any other kind. It must be zero, since nothing else may move through a deposit. */
  readonly otherNanos: bigint;
  readonly prepayCount: number;
  /** The sum of the discounts that the usage transfers name in their causes. */
  readonly savedNanos: bigint;
};

/** The minimum balances of users' credit, for users whose minimum is below zero. */
export async function listMinimumBalances(db: Reader): Promise<ReadonlyMap<UserId, bigint>> {
  const { rows } = await sql<{ user_id: UserId; minimum: bigint }>`
    select user_id, floor_nanos as minimum from ledger_accounts
    where kind = 'credit' and user_id is not null and floor_nanos <> 0
    order by user_id
  `.execute(db);
  return new Map(rows.map((row) => [row.user_id, row.minimum]));
}

/** Deposits with a transfer in the range. */
export async function listDepositFlows(db: Reader, range: TransferRange): Promise<readonly DepositFlow[]> {
  const { rows } = await sql<Record<"account_id" | "user_id" | "instance_id", number> & Record<string, string>>`
    with sides as (
      select t.debit_account_id as account_id, -t.amount_nanos::numeric as amount, t.code, t.key, t.cause
      from ledger_transfers t
      where ${within(range)}
      union all
      select t.credit_account_id, t.amount_nanos, t.code, t.key, t.cause from ledger_transfers t where ${within(range)}
    )
    select a.id as account_id, a.user_id, split_part(a.kind, ':', 2)::integer as instance_id,
      a.balance_nanos::text as balance,
      coalesce(sum(s.amount) filter (where s.code = 'prepay'), 0)::text as prepaid,
      coalesce(-sum(s.amount) filter (where s.key like 'deposit:%' or s.code = 'taken_back'), 0)::text as refunded,
      coalesce(-sum(s.amount) filter (where s.code = 'usage_gpu' and s.key not like 'deposit:%'), 0)::text as used,
      coalesce(sum(s.amount) filter (where s.code = 'host_credit'), 0)::text as credited,
      coalesce(sum(s.amount) filter (
        where s.code not in ('prepay', 'usage_gpu', 'host_credit', 'taken_back') and s.key not like 'deposit:%'
      ), 0)::text as other,
      (count(*) filter (where s.code = 'prepay'))::text as prepay_count,
      coalesce(sum((s.cause ->> 'discount_nanos')::numeric) filter (where s.code = 'usage_gpu'), 0)::text as saved
    from ledger_accounts a
    join sides s on s.account_id = a.id
    where a.kind like 'deposit:%'
    group by a.id
    order by a.id
  `.execute(db);
  return rows.map((row) => ({
    accountId: row.account_id as LedgerAccountId,
    userId: row.user_id as UserId,
    instanceId: row.instance_id as InstanceId,
    balanceNanos: BigInt(row["balance"] ?? 0),
    prepaidNanos: BigInt(row["prepaid"] ?? 0),
    refundedNanos: BigInt(row["refunded"] ?? 0),
    usedNanos: BigInt(row["used"] ?? 0),
    creditedNanos: BigInt(row["credited"] ?? 0),
    otherNanos: BigInt(row["other"] ?? 0),
    prepayCount: Number(row["prepay_count"]),
    savedNanos: BigInt(row["saved"] ?? 0),
  }));
}

/** A pending hold, with its owner. */
export type PendingHold = {
  readonly id: HoldId;
  readonly userId: UserId | undefined;
  readonly amountNanos: bigint;
  readonly createdAt: Date;
};

export async function listPendingHolds(db: Reader): Promise<readonly PendingHold[]> {
  const rows = await db
    .selectFrom("ledger_holds as h")
    .leftJoin("ledger_accounts as a", "a.id", "h.account_id")
    .select(["h.id", "h.amount_nanos", "h.created_at", "a.user_id"])
    .where("h.state", "=", "pending")
    .orderBy("h.id")
    .execute();
  return rows.map((row) => ({
    id: asHoldId(row.id),
    userId: row.user_id ?? undefined,
    amountNanos: row.amount_nanos,
    createdAt: row.created_at,
  }));
}

/** A cap, with the sum of its account's pending holds within its scope. */
export type AuditedCap = {
  readonly id: LedgerCapId;
  readonly userId: UserId;
  readonly scope: CapScope;
  readonly period: CapPeriod;
  readonly spentNanos: bigint;
  readonly startedAt: Date;
  readonly heldNanos: bigint;
  readonly pendingNanos: bigint;
};

export async function listAuditedCaps(db: Reader): Promise<readonly AuditedCap[]> {
  const { rows } = await sql<{
    readonly id: LedgerCapId;
    readonly user_id: UserId;
    readonly scope: string;
    readonly period: string;
    readonly spent_nanos: bigint;
    readonly period_started_at: Date;
    readonly held_nanos: bigint;
    readonly pending: string;
  }>`
    select c.id, c.user_id, c.scope, c.period, c.spent_nanos, c.period_started_at, c.held_nanos,
      coalesce(sum(h.amount_nanos), 0)::text as pending
    from ledger_caps c
    left join ledger_accounts a on coalesce(a.user_id, 0) = c.user_id and a.kind = 'credit'
    left join ledger_holds h on h.account_id = a.id and h.state = 'pending' and c.scope = any (h.scopes)
    group by c.id
    order by c.id
  `.execute(db);
  return rows.map((row) => ({
    id: row.id,
    userId: row.user_id,
    scope: parseCapScope(row.scope),
    period: parseCapPeriod(row.period),
    spentNanos: row.spent_nanos,
    startedAt: row.period_started_at,
    heldNanos: row.held_nanos,
    pendingNanos: BigInt(row.pending),
  }));
}
