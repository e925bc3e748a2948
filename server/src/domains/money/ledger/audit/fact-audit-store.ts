// Transfers and caps as the audit reads them, to compare them with the facts of the people who made them.
import { sql } from "kysely";
import { asId, type UserId } from "../../../../base/ids.ts";
import { nanos } from "../../../../base/money.ts";
import type { Reader } from "../../../../db/transaction.ts";
import type { IdBucket, TransferRange } from "./audited-transfer-store.ts";
import { parseCapPeriod, parseCapScope } from "../caps/cap-scope.ts";
import { capFact } from "../caps/cap-store.ts";
import { asTransferId, DEPOSIT_KEY_PREFIX, nameAccount, USAGE_CODES, type Cause, type TransferId } from "../types.ts";

/** All fields of a transfer, with the names of its accounts. */
export type StatedTransfer = {
  readonly id: TransferId;
  readonly key: string;
  readonly code: string;
  readonly from: string;
  readonly to: string;
  readonly amountNanos: bigint;
  readonly cause: Cause;
  readonly description: string;
  readonly createdAt: Date;
};

export async function listStatedTransfers(
  db: Reader,
  ids: readonly bigint[],
): Promise<ReadonlyMap<string, StatedTransfer>> {
  const rows = await db
    .selectFrom("ledger_transfers as t")
    .leftJoin("ledger_accounts as d", "d.id", "t.debit_account_id")
    .leftJoin("ledger_accounts as c", "c.id", "t.credit_account_id")
    .select(["t.id", "t.key", "t.amount_nanos", "t.code", "t.cause", "t.description", "t.created_at"])
    .select(["d.user_id as debit_user_id", "d.kind as debit_kind"])
    .select(["c.user_id as credit_user_id", "c.kind as credit_kind"])
    .where("t.id", "=", sql<bigint>`any(${[...ids]}::bigint[])`)
    .execute();
  return new Map(
    rows.map((row) => [
      String(row.id),
      {
        id: asTransferId(row.id),
        key: row.key,
        code: row.code,
        from: nameAccount({ kind: row.debit_kind ?? "nobody", userId: row.debit_user_id ?? undefined }),
        to: nameAccount({ kind: row.credit_kind ?? "nobody", userId: row.credit_user_id ?? undefined }),
        amountNanos: row.amount_nanos,
        cause: row.cause as Cause,
        description: row.description,
        createdAt: row.created_at,
      },
    ]),
  );
}

/** SQL: the transfer `t` has a fact, since it is no charge of usage (`isUsage`). */
const HAS_FACT = sql<boolean>`(
  t.code <> all (${[...USAGE_CODES]}::text[]) or starts_with(t.key, ${DEPOSIT_KEY_PREFIX}::text)
)`;

/** The transfers that have facts; with a code only those under it. */
export type FactTransfers = TransferRange & { readonly code?: string };

export async function listMovedBuckets(db: Reader, range: FactTransfers): Promise<readonly IdBucket[]> {
  const { rows } = await sql<IdBucket>`
    select t.id >> 12 as bucket, count(*)::integer as count,
      sum(hashint8extended(t.id, 0)::numeric)::text as fingerprint
    from ledger_transfers t
    where ${within(range)}
    group by 1
    order by 1
  `.execute(db);
  return rows;
}

export async function listMovedIds(db: Reader, range: FactTransfers, bucket: bigint): Promise<readonly bigint[]> {
  const { rows } = await sql<{ id: bigint }>`
    select t.id from ledger_transfers t
    where t.id >= ${bucket}::bigint << 12 and t.id < (${bucket}::bigint + 1) << 12 and ${within(range)}
    order by t.id
  `.execute(db);
  return rows.map(({ id }) => id);
}

function within({ nextId, from, to, code }: FactTransfers) {
  return sql<boolean>`${HAS_FACT} and t.id >= ${nextId}::bigint
    and t.created_at >= coalesce(${from ?? null}::timestamptz, '-infinity')
    and t.created_at < coalesce(${to ?? null}::timestamptz, 'infinity')
    and t.code = coalesce(${code ?? null}::text, t.code)`;
}

/** All caps by their ids, as people set them. */
export async function listStatedCaps(db: Reader): Promise<ReadonlyMap<string, ReturnType<typeof capFact>>> {
  const rows = await db
    .selectFrom("ledger_caps")
    .select(["id", "user_id", "scope", "period", "limit_nanos", "holds_from_at"])
    .orderBy("id")
    .execute();
  return new Map(
    rows.map((row) => [
      String(row.id),
      capFact({
        userId: asId<UserId>(row.user_id),
        scope: parseCapScope(row.scope),
        period: parseCapPeriod(row.period),
        limit: nanos(row.limit_nanos),
        holdsFromAt: row.holds_from_at,
      }),
    ]),
  );
}
