import { sql } from "kysely";
import type { LedgerCapId, UserId } from "../../../../base/ids.ts";
import { invariant } from "../../../../base/invariant.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { limitAfter, type CapChange, type CapLimit } from "./cap-limit.ts";
import { idOfScope, kindOfScope, parseCapPeriod, parseCapScope } from "./cap-scope.ts";
import type { CapPeriod, CapScope } from "../types.ts";

/** A limit on the amount that an account pays within one scope, with its state in the current period. */
export type Cap = {
  readonly id: LedgerCapId;
  readonly userId: UserId;
  readonly scope: CapScope;
  readonly period: CapPeriod;
  readonly limit: Nanos;
  readonly spent: Nanos;
  readonly held: Nanos;
  /** The moment from which the limit holds. Earlier usage counts as spent, but the limit does not bound it. */
  readonly holdsFromAt: Date;
  /** The highest limit that held shortly before; undefined when there was none. */
  readonly limitBefore: Nanos | undefined;
  readonly startedAt: Date;
  /** The last moment at which the cap stopped something. */
  readonly reachedAt: Date | undefined;
};

/** A payment, with the scopes whose caps it counts against. */
export type Spending = { readonly scopes: readonly CapScope[]; readonly amount: Nanos };

/**
 * The amount that a cap leaves for time from `holdsFromAt` on, and for earlier time; the latter is undefined when no
 * limit held.
 */
export type CapRoom = {
  readonly scope: CapScope;
  readonly roomNanos: Nanos;
  readonly roomBeforeNanos: Nanos | undefined;
  /** The part of the limit that pending holds set aside. */
  readonly heldNanos: Nanos;
  readonly holdsFromAt: Date;
};

/**
 * Locks the caps of these scopes, each of which names an account, and returns what each cap leaves; zero or less means
 * that it is reached. Locks the credit of these accounts first, so that nobody creates a cap meanwhile.
 */
export async function lockCapRooms(tx: Tx, scopes: readonly CapScope[]): Promise<readonly CapRoom[]> {
  const users = accountsOf(scopes);
  if (users.length === 0) return [];
  await sql`
    select from ledger_accounts a
    where coalesce(a.user_id, 0) = any(${users}::integer[]) and a.kind = 'credit'
    order by a.id
    for update
  `.execute(tx.db);
  const { rows } = await sql<{
    scope: string;
    room: bigint;
    room_before: bigint | null;
    held: bigint;
    holds_from_at: Date;
  }>`
    select c.scope, c.holds_from_at, c.held_nanos as held, c.limit_nanos - c.held_nanos - ${spentNow(tx.now)} as room,
      case when c.limit_before_nanos is not null then greatest(c.limit_nanos, c.limit_before_nanos) end
        - c.held_nanos - ${spentNow(tx.now)} as room_before
    from ledger_caps c
    where c.user_id = any(${users}::integer[]) and c.scope = any(${[...new Set(scopes)]}::text[])
    order by c.id
    for update
  `.execute(tx.db);
  return rows.map((row) => ({
    scope: parseCapScope(row.scope),
    roomNanos: nanos(row.room),
    roomBeforeNanos: row.room_before === null ? undefined : nanos(row.room_before),
    heldNanos: nanos(row.held),
    holdsFromAt: row.holds_from_at,
  }));
}

/** Locks the caps of these scopes likewise, and returns what the tightest cap of each scope leaves now. */
export async function lockCapRoom(tx: Tx, scopes: readonly CapScope[]): Promise<ReadonlyMap<CapScope, Nanos>> {
  const rooms = new Map<CapScope, Nanos>();
  for (const { scope, roomNanos } of await lockCapRooms(tx, scopes)) {
    const known = rooms.get(scope);
    if (known === undefined || roomNanos < known) rooms.set(scope, roomNanos);
  }
  return rooms;
}

/** Counts payments against the caps of their scopes. The caller has locked these caps with `lockCapRooms`. */
export async function noteSpending(tx: Tx, spent: readonly Spending[]): Promise<void> {
  const paid = spent.filter(({ amount }) => amount > 0n);
  if (paid.length === 0) return;
  await sql`
    update ledger_caps c set
      spent_nanos = s.amount + ${spentNow(tx.now)},
      period_started_at = greatest(c.period_started_at, ledger_period_start(c.period, ${tx.now}::timestamptz))
    from (
      select k.id, sum(p.amount)::bigint as amount
      from unnest(
        ${paid.map(({ scopes }) => [...new Set(scopes)].join(" "))}::text[],
        ${paid.map(({ amount }) => amount)}::bigint[]
      ) as p (scopes, amount)
      cross join unnest(string_to_array(p.scopes, ' ')) as own (scope)
      join ledger_caps k
        on k.scope = own.scope and ('account:' || k.user_id) = any (string_to_array(p.scopes, ' '))
      group by k.id
    ) s
    where c.id = s.id
  `.execute(tx.db);
}

/** Notes that these caps, which are used up, stopped something. */
export async function noteCapsReached(tx: Tx, ids: readonly LedgerCapId[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    update ledger_caps set reached_at = ${tx.now}::timestamptz where id = any(${[...ids]}::integer[])
  `.execute(tx.db);
}

export type NewCap = Pick<Cap, "userId" | "scope" | "period" | "limit" | "spent"> & {
  /**
   * True when holds cover everything that may run within the scope. Something that is being stopped may have no hold.
   */
  readonly isCovered: boolean;
  /** The moment by which everything that runs now without sufficient credit has stopped for certain. */
  readonly stoppedBy: Date;
};

/**
 * Creates a cap, or changes the limit of the cap with this scope and period. A new cap counts pending holds and
 * `spent`, which the caller has read under the lock of the credit. The limit holds at once when it covers the holds of
 * all that runs, or nothing runs; otherwise it holds from `stoppedBy` on.
 */
export async function putCap(tx: Tx, cap: NewCap): Promise<LedgerCapId> {
  const { userId, scope, period, limit, stoppedBy } = cap;
  const known = (await listCaps(tx.db, userId, tx.now)).find((one) => one.scope === scope && one.period === period);
  const held = known?.held ?? (await sumHeldWithin(tx, userId, scope));
  const isBorne = cap.isCovered && (held === 0n || (known?.spent ?? cap.spent) + held <= limit);
  const change = { limitNanos: limit, changedAt: tx.now, holdsFromAt: isBorne ? tx.now : stoppedBy };
  const stated = limitAfter(known && limitOf(known), change);
  const { rows } = await sql<{ id: LedgerCapId }>`
    insert into ledger_caps (user_id, scope, period, limit_nanos, spent_nanos, period_started_at, held_nanos, created_at,
      holds_from_at, limit_before_nanos)
    values (${userId}::integer, ${scope}::text, ${period}::text, ${limit}::bigint, ${cap.spent}::bigint,
      ledger_period_start(${period}::text, ${tx.now}::timestamptz), ${held}::bigint, ${tx.now}::timestamptz,
      ${change.holdsFromAt}::timestamptz, ${stated?.beforeNanos ?? null}::bigint)
    on conflict (user_id, scope, period) do update set limit_nanos = excluded.limit_nanos,
      holds_from_at = excluded.holds_from_at, limit_before_nanos = excluded.limit_before_nanos
    returning id
  `.execute(tx.db);
  await insertChange(tx, { userId, scope, period }, change);
  const [row] = rows;
  invariant(row !== undefined, "a cap that was put has its id");
  tx.noteFact({ kind: "cap", subject: String(row.id), content: capFact({ ...cap, holdsFromAt: change.holdsFromAt }) });
  return row.id;
}

/** The fact of a cap: its name, limit and start, valid until its next fact. */
export function capFact(cap: Pick<Cap, "userId" | "scope" | "period" | "limit" | "holdsFromAt">) {
  const { userId, scope, period, limit, holdsFromAt } = cap;
  return { user: userId, scope, period, limit: String(limit), holds_from: holdsFromAt.toISOString() };
}

function limitOf({ limit, limitBefore, holdsFromAt }: Cap): CapLimit {
  return { limitNanos: limit, holdsFromAt, beforeNanos: limitBefore };
}

async function sumHeldWithin(tx: Tx, userId: UserId, scope: CapScope): Promise<Nanos> {
  const { rows } = await sql<{ held: bigint }>`
    select coalesce(sum(h.amount_nanos), 0)::bigint as held
    from ledger_accounts a
    join ledger_holds h on h.account_id = a.id and h.state = 'pending' and ${scope}::text = any (h.scopes)
    where coalesce(a.user_id, 0) = ${userId}::integer and a.kind = 'credit'
  `.execute(tx.db);
  return nanos(rows[0]?.held ?? 0n);
}

/** Stores a change of a cap; the state of a cap follows from its changes alone. */
async function insertChange(
  tx: Tx,
  { userId, scope, period }: Pick<Cap, "userId" | "scope" | "period">,
  { limitNanos, changedAt, holdsFromAt }: CapChange,
): Promise<void> {
  await sql`
    insert into ledger_cap_changes (user_id, scope, period, limit_nanos, changed_at, holds_from_at)
    values (${userId}::integer, ${scope}::text, ${period}::text, ${limitNanos ?? null}::bigint, ${changedAt}::timestamptz,
      ${holdsFromAt}::timestamptz)
  `.execute(tx.db);
}

/** Removes a cap of this account; false when it has no such cap. The caller holds the lock of the account's credit. */
export async function deleteCap(tx: Tx, userId: UserId, id: LedgerCapId): Promise<boolean> {
  const cap = await findCap(tx.db, userId, id, tx.now);
  if (cap === undefined) return false;
  await sql`delete from ledger_caps where id = ${id}::integer and user_id = ${userId}::integer`.execute(tx.db);
  await insertChange(tx, cap, { limitNanos: undefined, changedAt: tx.now, holdsFromAt: tx.now });
  tx.noteFact({ kind: "cap", subject: String(id), content: { user: userId, removed: true } });
  return true;
}

/** The caps of an account, in the order of their creation. */
export async function listCaps(db: Reader, userId: UserId, now: Date): Promise<readonly Cap[]> {
  const { rows } = await sql<CapRow>`
    select ${capColumns(now)} from ledger_caps c where c.user_id = ${userId}::integer order by c.id
  `.execute(db);
  return rows.map(toCap);
}

export async function findCap(db: Reader, userId: UserId, id: LedgerCapId, now: Date): Promise<Cap | undefined> {
  const { rows } = await sql<CapRow>`
    select ${capColumns(now)} from ledger_caps c where c.user_id = ${userId}::integer and c.id = ${id}::integer
  `.execute(db);
  return rows.map(toCap)[0];
}

/** The caps that usage with these scopes counts against. */
export async function listCapsOfScopes(db: Reader, scopes: readonly CapScope[], now: Date): Promise<readonly Cap[]> {
  const { rows } = await sql<CapRow>`
    select ${capColumns(now)}
    from ledger_caps c
    where c.user_id = any(${accountsOf(scopes)}::integer[]) and c.scope = any(${[...scopes]}::text[])
    order by c.id
  `.execute(db);
  return rows.map(toCap);
}

/** Those of these scopes that have a cap, of any account. */
export async function listCappedAmong(db: Reader, scopes: readonly CapScope[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ scope: string }>`
    select distinct scope from ledger_caps where scope = any(${[...scopes]}::text[])
  `.execute(db);
  return new Set(rows.map(({ scope }) => scope));
}

/**
 * Caps of all accounts after an id that need a notification: in their current periods the spent share was reached, or
 * they stopped something.
 */
export async function listCapsToTellOf(
  db: Reader,
  now: Date,
  {
    spentPermille,
    afterId,
    limit,
  }: { readonly spentPermille: number; readonly afterId: number; readonly limit: number },
): Promise<readonly Cap[]> {
  const { rows } = await sql<CapRow>`
    select ${capColumns(now)}
    from ledger_caps c
    where c.id > ${afterId}::integer and (
      ${spentNow(now)}::numeric * 1000 >= c.limit_nanos::numeric * ${spentPermille}::integer
      or c.reached_at >= ledger_period_start(c.period, ${now}::timestamptz)
    )
    order by c.id
    limit ${limit}::integer
  `.execute(db);
  return rows.map(toCap);
}

/** Caps of all accounts after an id that leave nothing in their current periods. */
export async function listReachedCaps(
  db: Reader,
  now: Date,
  { afterId, limit }: { readonly afterId: number; readonly limit: number },
): Promise<readonly Cap[]> {
  const { rows } = await sql<CapRow>`
    select ${capColumns(now)}
    from ledger_caps c
    where c.id > ${afterId}::integer and c.limit_nanos <= c.held_nanos + ${spentNow(now)}
    order by c.id
    limit ${limit}::integer
  `.execute(db);
  return rows.map(toCap);
}

/** SQL: the amount that `c` counts in the current period; amounts of an earlier period count as zero. */
function spentNow(now: Date) {
  return sql`case
    when c.period_started_at < ledger_period_start(c.period, ${now}::timestamptz) then 0 else c.spent_nanos
  end`;
}

function capColumns(now: Date) {
  return sql`c.id, c.user_id, c.scope, c.period, c.limit_nanos, ${spentNow(now)} as spent_nanos, c.held_nanos,
    c.holds_from_at, c.limit_before_nanos,
    greatest(c.period_started_at, ledger_period_start(c.period, ${now}::timestamptz)) as started_at, c.reached_at`;
}

/**
 * The accounts of these scopes. Each scope belongs to one account, and only payments of that account count against it.
 */
function accountsOf(scopes: readonly CapScope[]): number[] {
  return [...new Set(scopes.filter((scope) => kindOfScope(scope) === "account").map(idOfScope))];
}

type CapRow = {
  readonly id: LedgerCapId;
  readonly user_id: UserId;
  readonly scope: string;
  readonly period: string;
  readonly limit_nanos: bigint;
  readonly spent_nanos: bigint;
  readonly held_nanos: bigint;
  readonly holds_from_at: Date;
  readonly limit_before_nanos: bigint | null;
  readonly started_at: Date;
  readonly reached_at: Date | null;
};

function toCap(row: CapRow): Cap {
  return {
    id: row.id,
    userId: row.user_id,
    scope: parseCapScope(row.scope),
    period: parseCapPeriod(row.period),
    limit: nanos(row.limit_nanos),
    spent: nanos(row.spent_nanos),
    held: nanos(row.held_nanos),
    holdsFromAt: row.holds_from_at,
    limitBefore: row.limit_before_nanos === null ? undefined : nanos(row.limit_before_nanos),
    startedAt: row.started_at,
    reachedAt: row.reached_at ?? undefined,
  };
}
