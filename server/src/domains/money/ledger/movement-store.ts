// Movements: transfers other than usage. They have indexes of their own (migration 0234), so that years of charges do
// not slow them down.
import { sql, type RawBuilder } from "kysely";
import type { InstanceId, UserId } from "../../../base/ids.ts";
import { invariant } from "../../../base/invariant.ts";
import { nanos, type Nanos } from "../../../base/money.ts";
import type { Reader } from "../../../db/transaction.ts";
import { asTransferId, TRANSFER_CODES, USER_ACCOUNT_KINDS } from "./types.ts";
import type { Cause, TransferCode, TransferEntry, UsageCode } from "./types.ts";

export type MovementCode = Exclude<TransferCode, UsageCode>;

const SEEN_KINDS = [...USER_ACCOUNT_KINDS, "deposit"] as const;

/** A movement, as the owner of one of its accounts sees it. */
export type Movement = Omit<TransferEntry, "accountKind"> & {
  readonly accountKind: MovementSide["account"];
  readonly code: MovementCode;
  readonly counterparty: UserId | undefined;
};

/** SQL: the condition of the indexes, word for word. */
const IS_MOVEMENT = sql`t.code not in ('usage_gpu', 'usage_storage', 'usage_bandwidth_up', 'usage_bandwidth_down')`;

/** The movement after which a list continues. */
export type MovementPlace = { readonly value: bigint; readonly id: bigint };

export type MovementQuery = {
  /** The period, from inclusive, until exclusive. */
  readonly from: Date;
  readonly until: Date;
  /** The sides to list, by the kind of the user's account and the direction; each movement is listed once. */
  readonly sides: readonly MovementSide[];
  readonly order: "when" | "amount";
  readonly isDescending: boolean;
  readonly after: MovementPlace | undefined;
  readonly limit: number;
};

export type MovementSide = {
  readonly code: MovementCode;
  /**
   * For a deposit only movements that go neither to its owner's credit nor to usage: shares of an early end or a
   * dispute.
   */
  readonly account: "credit" | "earnings" | "deposit";
  readonly direction: "in" | "out";
};

type MovementRow = {
  readonly id: bigint;
  readonly key: string;
  readonly kind: string;
  readonly direction: string;
  readonly amount: bigint;
  readonly code: string;
  readonly cause: Cause;
  readonly description: string;
  readonly created_at: Date;
  readonly counterparty: UserId | null;
};

/** One page of a user's movements, and the number of all of them. */
export async function listMovements(
  db: Reader,
  userId: UserId,
  query: MovementQuery,
): Promise<{ readonly movements: readonly Movement[]; readonly total: number }> {
  const { sides, after, limit, isDescending } = query;
  if (sides.length === 0) return { movements: [], total: 0 };
  const direction = isDescending ? sql`desc` : sql`asc`;
  const comparison = isDescending ? sql`<` : sql`>`;
  const value =
    query.order === "when"
      ? sql`(extract(epoch from m.created_at) * 1000000)::bigint`
      : sql`case m.direction when 'in' then m.amount else -m.amount end`;
  const all = sql`
    with side as (
      select * from unnest(
        ${sides.map(({ code }) => code)}::text[], ${sides.map(({ account }) => account)}::text[],
        ${sides.map((one) => one.direction)}::text[]
      ) as s (code, kind, direction)
    ), m as materialized (
      ${movementsOf(userId, query, "in")} union all ${movementsOf(userId, query, "out")}
      union all ${leftDeposits(userId, query, IS_FEE)} union all ${leftDeposits(userId, query, IS_GIVEN_BACK)}
      union all ${leftDeposits(userId, query, IS_TAKEN_BACK)}
    )`;
  const { rows } = await sql<MovementRow>`
    ${all}
    select m.id, m.key, m.kind, m.direction, m.amount, m.code, m.cause, m.description, m.created_at, o.user_id as counterparty
    from m left join ledger_accounts o on o.id = m.other_account_id
    where ${after?.id ?? null}::bigint is null
      or (${value}, m.id) ${comparison} (${after?.value ?? null}::bigint, ${after?.id ?? null}::bigint)
    order by ${value} ${direction}, m.id ${direction}
    limit ${limit}::integer
  `.execute(db);
  const counted = await sql<{ total: number }>`${all} select count(*)::integer as total from m`.execute(db);
  return { movements: rows.map(toMovement), total: counted.rows[0]?.total ?? 0 };
}

/** The place of this movement in a list with this order. */
export function placeOf(movement: Movement, order: MovementQuery["order"]): MovementPlace {
  const amount = movement.direction === "in" ? movement.amount : -movement.amount;
  const value = order === "when" ? BigInt(movement.createdAt.getTime()) * 1000n : amount;
  return { value, id: movement.transferId };
}

/** SQL: one side of all movements of an account of the user, as `m`. */
function movementsOf(
  userId: UserId,
  { from, until }: { readonly from: Date; readonly until: Date },
  direction: "in" | "out",
): RawBuilder<unknown> {
  const [own, other] =
    direction === "in" ? ["credit_account_id", "debit_account_id"] : ["debit_account_id", "credit_account_id"];
  return sql`
    select t.id, t.key, a.kind, ${direction}::text as direction, t.amount_nanos as amount, t.code, t.cause, t.description,
      t.created_at, t.${sql.ref(other ?? "")} as other_account_id
    from ledger_accounts a
    join ledger_transfers t on t.${sql.ref(own ?? "")} = a.id
    join side s on s.code = t.code and s.kind = a.kind and s.direction = ${direction}::text
    where coalesce(a.user_id, 0) = ${userId}::integer and a.kind in ('credit', 'earnings') and ${IS_MOVEMENT}
      and t.created_at >= ${from}::timestamptz and t.created_at < ${until}::timestamptz`;
}

/** The fee for an early end. */
const IS_FEE = { code: "fee", condition: sql`${IS_MOVEMENT} and t.code = 'fee'` } as const;
/** The discount that an early end returns to the host; word for word the condition of an index (migration 0245). */
const IS_GIVEN_BACK = { code: "refund", condition: sql`t.code = 'usage_gpu' and t.key like 'deposit:%'` } as const;

/**
 * The share of a dispute that left a deposit. A dispute of the owner moves it to the owner's credit, which shows it.
 */
const IS_TAKEN_BACK = {
  code: "taken_back",
  condition: sql`${IS_MOVEMENT} and t.code = 'taken_back' and not exists (
    select from ledger_accounts payer where payer.id = t.credit_account_id and payer.user_id = a.user_id
  )`,
} as const;

/** SQL: movements of one kind that left deposits of the user other than for usage, as a part of `m`. */
function leftDeposits(
  userId: UserId,
  { from, until }: { readonly from: Date; readonly until: Date },
  { code, condition }: typeof IS_FEE | typeof IS_GIVEN_BACK | typeof IS_TAKEN_BACK,
): RawBuilder<unknown> {
  return sql`
    select t.id, t.key, 'deposit', 'out', t.amount_nanos, ${code}::text, t.cause, t.description, t.created_at,
      t.credit_account_id
    from ledger_accounts a
    join ledger_transfers t on t.debit_account_id = a.id
    join side s on s.code = ${code}::text and s.kind = 'deposit' and s.direction = 'out'
    where coalesce(a.user_id, 0) = ${userId}::integer and a.kind like 'deposit:%' and ${condition}
      and t.created_at >= ${from}::timestamptz and t.created_at < ${until}::timestamptz`;
}

function toMovement(row: MovementRow): Movement {
  const code = TRANSFER_CODES.find((candidate) => candidate === row.code);
  const kind = SEEN_KINDS.find((candidate) => candidate === row.kind);
  invariant(
    code !== undefined && kind !== undefined && isMovementCode(code),
    `no movement: ${row.code} of ${row.kind}`,
  );
  return {
    transferId: asTransferId(row.id),
    key: row.key,
    accountKind: kind,
    direction: row.direction === "in" ? "in" : "out",
    amount: nanos(row.amount),
    code,
    cause: row.cause,
    description: row.description,
    createdAt: row.created_at,
    counterparty: row.counterparty ?? undefined,
  };
}

function isMovementCode(code: TransferCode): code is MovementCode {
  return !code.startsWith("usage_");
}

/** The sum of movements under one code into or out of a user's prepaid money: credit and deposits together. */
export type MovementSum = { readonly code: MovementCode; readonly direction: "in" | "out"; readonly amount: Nanos };

/**
 * Sums movements between a user's prepaid money and anything else; movements within it, such as prepaying a deposit,
 * are left out.
 */
export async function sumPrepaidMovements(
  db: Reader,
  userId: UserId,
  { from, until }: { readonly from: Date; readonly until: Date },
): Promise<readonly MovementSum[]> {
  const { rows } = await sql<{ code: string; direction: string; amount: string }>`
    with own as (
      select id from ledger_accounts
      where coalesce(user_id, 0) = ${userId}::integer and (kind = 'credit' or kind like 'deposit:%')
    ), moved as (
      select t.code, 'in' as direction, t.amount_nanos
      from own join ledger_transfers t on t.credit_account_id = own.id
      where ${IS_MOVEMENT} and t.created_at >= ${from}::timestamptz and t.created_at < ${until}::timestamptz
        and t.debit_account_id not in (select id from own)
      union all
      select t.code, 'out', t.amount_nanos
      from own join ledger_transfers t on t.debit_account_id = own.id
      where ${IS_MOVEMENT} and t.created_at >= ${from}::timestamptz and t.created_at < ${until}::timestamptz
        and t.credit_account_id not in (select id from own)
      union all
      -- The part of a deposit that its host gets at the end is no usage of later time, although its code is.
      select 'refund', 'out', t.amount_nanos
      from own join ledger_transfers t on t.debit_account_id = own.id
      where ${IS_GIVEN_BACK.condition}
        and t.created_at >= ${from}::timestamptz and t.created_at < ${until}::timestamptz
    )
    select code, direction, sum(amount_nanos)::text as amount from moved group by code, direction order by code, direction
  `.execute(db);
  return rows.map((row): MovementSum => {
    const code = TRANSFER_CODES.find((candidate) => candidate === row.code);
    invariant(code !== undefined && isMovementCode(code), `the ledger holds an unknown movement: ${row.code}`);
    return { code, direction: row.direction === "in" ? "in" : "out", amount: nanos(BigInt(row.amount)) };
  });
}

/** Amounts under one code that early ends took from a user: fees, or discounts returned to hosts. */
export type EarlyEnd = {
  readonly code: "fee" | "discount_returned";
  /** The instance; undefined for a fee that the credit paid, not a deposit. */
  readonly instanceId: InstanceId | undefined;
  readonly from: Date;
  readonly to: Date;
  readonly amount: Nanos;
};

/** The transfers behind the sums of fees and returned discounts in `sumPrepaidMovements`, by instance. */
export async function listEarlyEnds(
  db: Reader,
  userId: UserId,
  { from, until }: { readonly from: Date; readonly until: Date },
): Promise<readonly EarlyEnd[]> {
  const { rows } = await sql<{ code: EarlyEnd["code"]; id: InstanceId | null; from: Date; to: Date; amount: string }>`
    with own as (
      select id, nullif(split_part(kind, ':', 2), '')::integer as instance_id from ledger_accounts
      where coalesce(user_id, 0) = ${userId}::integer and (kind = 'credit' or kind like 'deposit:%')
    ), taken as (
      select 'fee' as code, own.instance_id, t.amount_nanos, t.created_at
      from own join ledger_transfers t on t.debit_account_id = own.id
      where ${IS_FEE.condition} and t.created_at >= ${from}::timestamptz and t.created_at < ${until}::timestamptz
        and t.credit_account_id not in (select id from own)
      union all
      select 'discount_returned', own.instance_id, t.amount_nanos, t.created_at
      from own join ledger_transfers t on t.debit_account_id = own.id
      where ${IS_GIVEN_BACK.condition}
        and t.created_at >= ${from}::timestamptz and t.created_at < ${until}::timestamptz
    )
    select code, instance_id as id, min(created_at) as "from", max(created_at) as "to", sum(amount_nanos)::text as amount
    from taken group by code, instance_id order by instance_id, code
  `.execute(db);
  return rows.map(({ code, id, amount, ...span }) => ({
    code,
    instanceId: id ?? undefined,
    ...span,
    amount: nanos(BigInt(amount)),
  }));
}

/** The prepaid money of a user: credit and deposits, held amounts included. */
export async function prepaidBalanceOf(db: Reader, userId: UserId): Promise<Nanos> {
  const { rows } = await sql<{ balance: string }>`
    select coalesce(sum(balance_nanos), 0)::text as balance from ledger_accounts
    where coalesce(user_id, 0) = ${userId}::integer and (kind = 'credit' or kind like 'deposit:%')
  `.execute(db);
  return nanos(BigInt(rows[0]?.balance ?? "0"));
}

/** Users whose credit ever received money, in the order of their ids, after `after`. */
export async function listCreditHolders(db: Reader, after: number, limit: number): Promise<readonly UserId[]> {
  const { rows } = await sql<{ id: UserId }>`
    select coalesce(user_id, 0) as id from ledger_accounts
    where coalesce(user_id, 0) > ${after}::integer and kind = 'credit'
    order by coalesce(user_id, 0) limit ${limit}::integer
  `.execute(db);
  return rows.map(({ id }) => id);
}

/**
 * Those of these users whose credit or deposits moved other than for usage, or were charged for an early end. A host's
 * failure may return money to a deposit in a month without any other movement.
 */
export async function listMoversAmong(
  db: Reader,
  userIds: readonly UserId[],
  { from, until }: { readonly from: Date; readonly until: Date },
): Promise<readonly UserId[]> {
  const within = sql`${IS_MOVEMENT} and t.created_at >= ${from}::timestamptz and t.created_at < ${until}::timestamptz`;
  const { rows } = await sql<{ id: UserId }>`
    select distinct a.user_id as id from unnest(${[...userIds]}::integer[]) as u (id)
    join ledger_accounts a on coalesce(a.user_id, 0) = u.id and (a.kind = 'credit' or a.kind like 'deposit:%')
    where exists (select from ledger_transfers t where t.debit_account_id = a.id and ${within})
      or exists (select from ledger_transfers t where t.credit_account_id = a.id and ${within})
      or exists (
        select from ledger_transfers t where t.debit_account_id = a.id and ${IS_GIVEN_BACK.condition}
          and t.created_at >= ${from}::timestamptz and t.created_at < ${until}::timestamptz
      )
    order by 1
  `.execute(db);
  return rows.map(({ id }) => id);
}

/** The time of the first transfer of all; undefined when there is none. */
export async function firstMovementAt(db: Reader): Promise<Date | undefined> {
  const row = await db.selectFrom("ledger_transfers").select("created_at").orderBy("id").limit(1).executeTakeFirst();
  return row?.created_at;
}
