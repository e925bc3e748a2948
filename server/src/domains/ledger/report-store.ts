import { sql } from "kysely";
import { asId, type InstanceId, type UserId, type VolumeId } from "../../base/ids.ts";
import { invariant } from "../../base/invariant.ts";
import { nanos, ZERO, type Nanos } from "../../base/money.ts";
import type { Reader } from "../../db/transaction.ts";
import { asTransferId, TRANSFER_CODES, USAGE_CODES, USER_ACCOUNT_KINDS } from "./types.ts";
import type {
  Balance,
  Cause,
  TransferCode,
  TransferEntry,
  TransferFilter,
  TransferId,
  UsageCode,
  UserAccountKind,
} from "./types.ts";

type OwnAccountKind = Exclude<UserAccountKind, "deposit">;

/** What a user has in one account; nothing when no money ever touched it. */
export async function balanceOf(db: Reader, userId: UserId, kind: OwnAccountKind = "credit"): Promise<Balance> {
  const { rows } = await sql<{ balance: bigint; held: bigint }>`
    select balance_nanos as balance, held_nanos as held
    from ledger_accounts
    where coalesce(user_id, 0) = ${userId}::integer and kind = ${kind}::text
  `.execute(db);
  const [row] = rows;
  if (row === undefined) return { balance: ZERO, held: ZERO, available: ZERO };
  return { balance: nanos(row.balance), held: nanos(row.held), available: nanos(row.balance - row.held) };
}

/** What is left of the deposits of these instances; those for which nothing was ever prepaid are left out. */
export async function listDepositBalances(
  db: Reader,
  instances: readonly { readonly id: InstanceId; readonly userId: UserId }[],
): Promise<ReadonlyMap<InstanceId, Nanos>> {
  if (instances.length === 0) return new Map();
  const { rows } = await sql<{ id: InstanceId; balance: bigint }>`
    select wanted.id, a.balance_nanos as balance
    from unnest(
      ${instances.map(({ id }) => id)}::integer[], ${instances.map(({ userId }) => userId)}::integer[]
    ) as wanted (id, user_id)
    join ledger_accounts a on coalesce(a.user_id, 0) = wanted.user_id and a.kind = 'deposit:' || wanted.id
  `.execute(db);
  return new Map(rows.map((row) => [row.id, nanos(row.balance)]));
}

type EntryRow = {
  readonly id: bigint;
  readonly key: string;
  readonly kind: string;
  readonly direction: string;
  readonly amount: bigint;
  readonly code: string;
  readonly cause: Cause;
  readonly description: string;
  readonly created_at: Date;
};

/**
 * The transfers of a user's own accounts, newest first. One between two accounts of the same user, such as the rent of
 * an own machine, comes twice: once for each side.
 */
export async function listTransfersOf(
  db: Reader,
  userId: UserId,
  { from, to, codes = TRANSFER_CODES, limit }: TransferFilter,
): Promise<readonly TransferEntry[]> {
  const { rows } = await sql<EntryRow>`
    select t.id, t.key, a.kind, side.direction, t.amount_nanos as amount, t.code, t.cause, t.description, t.created_at
    from ledger_accounts a
    cross join (values ('in'), ('out')) as side (direction)
    cross join lateral (
      (
        select o.* from ledger_transfers o
        where side.direction = 'out' and o.debit_account_id = a.id and o.code = any (${codes}::text[])
          and o.created_at between coalesce(${from ?? null}::timestamptz, '-infinity')
            and coalesce(${to ?? null}::timestamptz, 'infinity')
        order by o.created_at desc, o.id desc
        limit ${limit}::integer
      )
      union all
      (
        select i.* from ledger_transfers i
        where side.direction = 'in' and i.credit_account_id = a.id and i.code = any (${codes}::text[])
          and i.created_at between coalesce(${from ?? null}::timestamptz, '-infinity')
            and coalesce(${to ?? null}::timestamptz, 'infinity')
        order by i.created_at desc, i.id desc
        limit ${limit}::integer
      )
    ) t
    where coalesce(a.user_id, 0) = ${userId}::integer
    order by t.created_at desc, t.id desc, side.direction
    limit ${limit}::integer
  `.execute(db);
  return rows.map((row): TransferEntry => ({
    transferId: asTransferId(row.id),
    key: row.key,
    accountKind: memberOf(USER_ACCOUNT_KINDS, row.kind.split(":")[0] ?? ""),
    direction: row.direction === "in" ? "in" : "out",
    amount: nanos(row.amount),
    code: memberOf(TRANSFER_CODES, row.code),
    cause: row.cause,
    description: row.description,
    createdAt: row.created_at,
  }));
}

/** What one instance or volume cost its renter for one component during one day (UTC) of the period asked for. */
export type UsageSum = {
  /** The first transfer of the sum: it names the sum, since it is in no other. */
  readonly firstTransferId: TransferId;
  readonly code: UsageCode;
  readonly instanceId: InstanceId | undefined;
  readonly volumeId: VolumeId | undefined;
  /** Decimal text, in the unit that `Cause` states for the code; undefined when the charges do not name it. */
  readonly quantity: string | undefined;
  readonly amount: Nanos;
  readonly lastAt: Date;
};

type UsageRow = {
  readonly first_id: bigint;
  readonly code: string;
  readonly instance_id: string | null;
  readonly volume_id: string | null;
  readonly quantity: string | null;
  readonly amount: string;
  readonly last_at: Date;
};

/** Adds up what a user's credit paid for usage, newest day first. */
export async function sumUsageOf(
  db: Reader,
  userId: UserId,
  { from, to, limit }: Pick<TransferFilter, "from" | "to" | "limit">,
): Promise<readonly UsageSum[]> {
  const { rows } = await sql<UsageRow>`
    select min(t.id) as first_id, t.code, t.cause ->> 'instance_id' as instance_id,
      t.cause ->> 'volume_id' as volume_id, sum((t.cause ->> 'quantity')::numeric)::text as quantity,
      sum(t.amount_nanos)::text as amount, max(t.created_at) as last_at
    from ledger_transfers t
    join ledger_accounts a on a.id = t.debit_account_id
    where coalesce(a.user_id, 0) = ${userId}::integer and a.kind = 'credit' and t.code = any (${[...USAGE_CODES]}::text[])
      and t.created_at between coalesce(${from ?? null}::timestamptz, '-infinity')
        and coalesce(${to ?? null}::timestamptz, 'infinity')
    group by date_trunc('day', t.created_at at time zone 'UTC'), t.code, t.cause ->> 'instance_id',
      t.cause ->> 'volume_id'
    order by last_at desc, first_id desc
    limit ${limit}::integer
  `.execute(db);
  return rows.map((row): UsageSum => ({
    firstTransferId: asTransferId(row.first_id),
    code: memberOf(USAGE_CODES, row.code),
    instanceId: row.instance_id === null ? undefined : asId(Number(row.instance_id)),
    volumeId: row.volume_id === null ? undefined : asId(Number(row.volume_id)),
    quantity: row.quantity ?? undefined,
    amount: nanos(BigInt(row.amount)),
    lastAt: row.last_at,
  }));
}

/** Everything that left a user's credit under these codes since `from`. */
export async function totalSpent(
  db: Reader,
  userId: UserId,
  { from, codes }: { readonly from: Date; readonly codes: readonly TransferCode[] },
): Promise<Nanos> {
  const { rows } = await sql<{ amount: string }>`
    select coalesce(sum(t.amount_nanos), 0)::text as amount
    from ledger_transfers t
    join ledger_accounts a on a.id = t.debit_account_id
    where coalesce(a.user_id, 0) = ${userId}::integer and a.kind = 'credit' and t.code = any (${codes}::text[])
      and t.created_at >= ${from}::timestamptz
  `.execute(db);
  return nanos(BigInt(rows[0]?.amount ?? "0"));
}

function memberOf<T extends string>(members: readonly T[], text: string): T {
  const member = members.find((candidate) => candidate === text);
  invariant(member !== undefined, `the ledger holds an unknown word: ${text}`);
  return member;
}
