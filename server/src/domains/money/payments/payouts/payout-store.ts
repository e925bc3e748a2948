import { sql } from "kysely";
import type { PayoutId, UserId } from "../../../../base/ids.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { hasNegativeEarnings } from "../../ledger/for-payments.ts";
import type { PayoutMethod } from "./rules/payout-method.ts";

export type PayoutState = "pending" | "sending" | "paid" | "failed";

/** A payout to a host for one Friday's invoice. */
export type Payout = {
  readonly id: PayoutId;
  readonly userId: UserId;
  readonly invoicedAt: Date;
  readonly dueAt: Date;
  /** Earnings since the invoice before, in nano-dollars. */
  readonly earned: bigint;
  readonly feePpm: number;
  readonly fee: Nanos;
  readonly amount: Nanos;
  readonly state: PayoutState;
  /** The method by which it was sent, or is being sent; undefined until then. */
  readonly method: PayoutMethod | undefined;
  /** The host's account at the provider that it is sent to. */
  readonly destination: string | undefined;
  /** The name of the payment at the bank or provider that made it. */
  readonly reference: string | undefined;
  readonly failure: string | undefined;
  readonly attemptCount: number;
  /** The sum that came back so far, in `returnCount` steps; the whole amount of a failed payout. */
  readonly returned: Nanos;
  readonly returnCount: number;
  readonly createdAt: Date;
  readonly settledAt: Date | undefined;
};

const COLUMNS = [
  "id",
  "user_id",
  "invoiced_at",
  "due_at",
  "earned_nanos",
  "fee_ppm",
  "fee_nanos",
  "amount_nanos",
  "state",
  "method",
  "destination",
  "reference",
  "failure",
  "attempt_count",
  "returned_nanos",
  "return_count",
  "created_at",
  "settled_at",
] as const;

/** The settled part of a host's earnings, whose fee was taken; locked until the transaction ends. */
export async function lockSettled(tx: Tx, userId: UserId): Promise<bigint> {
  await tx.db
    .insertInto("payout_bases")
    .values({ user_id: userId, settled_nanos: 0n })
    .onConflict((conflict) => conflict.column("user_id").doNothing())
    .execute();
  const row = await tx.db
    .selectFrom("payout_bases")
    .select("settled_nanos")
    .where("user_id", "=", userId)
    .forUpdate()
    .executeTakeFirstOrThrow();
  return row.settled_nanos;
}

export async function findSettled(db: Reader, userId: UserId): Promise<bigint> {
  const row = await db
    .selectFrom("payout_bases")
    .select("settled_nanos")
    .where("user_id", "=", userId)
    .executeTakeFirst();
  return row?.settled_nanos ?? 0n;
}

export async function storeSettled(tx: Tx, userId: UserId, settled: bigint): Promise<void> {
  await tx.db.updateTable("payout_bases").set({ settled_nanos: settled }).where("user_id", "=", userId).execute();
}

/** Inserts a payout; undefined when the host has an invoice of this Friday. */
export async function insertPayout(
  tx: Tx,
  payout: Pick<Payout, "userId" | "invoicedAt" | "dueAt" | "earned" | "feePpm" | "fee" | "amount">,
): Promise<PayoutId | undefined> {
  const row = await tx.db
    .insertInto("payouts")
    .values({
      user_id: payout.userId,
      invoiced_at: payout.invoicedAt,
      due_at: payout.dueAt,
      earned_nanos: payout.earned,
      fee_ppm: payout.feePpm,
      fee_nanos: payout.fee,
      amount_nanos: payout.amount,
      created_at: tx.now,
    })
    .onConflict((conflict) => conflict.columns(["user_id", "invoiced_at"]).doNothing())
    .returning(COLUMNS)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  notePayout(tx, row);
  return row.id;
}

/** The progress of this Friday's invoices, locked; undefined when another process is writing them now. */
export async function lockRun(
  tx: Tx,
  friday: Date,
): Promise<{ readonly afterUserId: number; readonly isComplete: boolean } | undefined> {
  await tx.db
    .insertInto("payout_runs")
    .values({ friday_at: friday })
    .onConflict((conflict) => conflict.column("friday_at").doNothing())
    .execute();
  const row = await tx.db
    .selectFrom("payout_runs")
    .select(["after_user_id", "completed_at"])
    .where("friday_at", "=", friday)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
  return row && { afterUserId: row.after_user_id, isComplete: row.completed_at !== null };
}

export async function storeRun(
  tx: Tx,
  friday: Date,
  { afterUserId, isComplete }: { readonly afterUserId: number; readonly isComplete: boolean },
): Promise<void> {
  await tx.db
    .updateTable("payout_runs")
    .set({ after_user_id: afterUserId, ...(isComplete ? { completed_at: tx.now } : {}) })
    .where("friday_at", "=", friday)
    .execute();
}

/**
 * Leases due payouts to the caller, each with the encrypted details of its destination: payouts to hosts with an
 * account at the provider, without an open hold and without a debt, and payouts whose sending has begun.
 */
export async function claimDuePayouts(
  tx: Tx,
  { leaseUntil, limit }: { readonly leaseUntil: Date; readonly limit: number },
): Promise<readonly (Payout & { readonly encryptedDetails: string | undefined })[]> {
  const { rows } = await sql<{ id: PayoutId; details_sealed: string | null }>`
    with due as (
      select p.id, m.details_sealed
      from payouts p left join payout_methods m on m.user_id = p.user_id and m.method = 'stripe'
      where p.due_at <= ${tx.now}::timestamptz
        and (
          (p.state = 'pending' and m.user_id is not null)
          or p.state = 'sending'
        )
        and coalesce(p.lease_until, '-infinity') <= ${tx.now}::timestamptz
        and not exists (select from payout_holds h where h.user_id = p.user_id and h.released_at is null)
        and (p.state = 'sending' or not ${isOwed})
      order by p.due_at, p.id
      limit ${limit}::integer
      for update of p skip locked
    )
    update payouts set state = 'sending', method = 'stripe', attempt_count = attempt_count + 1,
      lease_until = ${leaseUntil}::timestamptz
    from due where payouts.id = due.id
    returning payouts.id, due.details_sealed
  `.execute(tx.db);
  const sealed = new Map(rows.map((row) => [row.id, row.details_sealed ?? undefined]));
  if (sealed.size === 0) return [];
  const claimed = await tx.db
    .selectFrom("payouts")
    .select(COLUMNS)
    .where("id", "in", [...sealed.keys()])
    .orderBy("due_at")
    .orderBy("id")
    .execute();
  return claimed.map((row) => ({ ...toPayout(row), encryptedDetails: sealed.get(row.id) }));
}

/** SQL: the host of a payout `p` has a debt, that is, negative earnings. */
const isOwed = hasNegativeEarnings(sql`p.user_id`);

/** Locks the oldest due payout whose host has a debt and that is not being sent; undefined when there is none. */
export async function lockOwedPayout(tx: Tx): Promise<Payout | undefined> {
  const { rows } = await sql<{ id: PayoutId }>`
    select p.id from payouts p
    where p.state = 'pending' and p.due_at <= ${tx.now}::timestamptz and ${isOwed}
    order by p.due_at, p.id
    limit 1
    for update of p skip locked
  `.execute(tx.db);
  return rows[0] && lockPayout(tx, rows[0].id);
}

/** Stores the destination, which is decided once: a repetition sends the payout nowhere else. */
export async function storeDestination(tx: Tx, id: PayoutId, destination: string): Promise<void> {
  await tx.db.updateTable("payouts").set({ destination }).where("id", "=", id).execute();
}

export async function lockPayout(tx: Tx, id: PayoutId): Promise<Payout | undefined> {
  const row = await tx.db.selectFrom("payouts").select(COLUMNS).where("id", "=", id).forUpdate().executeTakeFirst();
  return row && toPayout(row);
}

export async function findPayout(db: Reader, id: PayoutId): Promise<Payout | undefined> {
  const row = await db.selectFrom("payouts").select(COLUMNS).where("id", "=", id).executeTakeFirst();
  return row && toPayout(row);
}

/**
 * Makes a payout pending again, to be sent by hand. It keeps its lease, so that no run tries it before the lease ends.
 */
export async function releasePayout(tx: Tx, id: PayoutId): Promise<void> {
  await tx.db
    .updateTable("payouts")
    .set({ state: "pending", method: null, destination: null })
    .where("id", "=", id)
    .execute();
}

/** Stores the end of a payout: paid or failed. */
export async function endPayout(
  tx: Tx,
  id: PayoutId,
  change:
    | { readonly state: "paid"; readonly method: PayoutMethod | undefined; readonly reference: string }
    | { readonly state: "failed"; readonly failure: string },
): Promise<void> {
  const row = await tx.db
    .updateTable("payouts")
    .set({
      state: change.state,
      lease_until: null,
      settled_at: tx.now,
      ...(change.state === "paid" ? { method: change.method ?? null, reference: change.reference } : {}),
      ...(change.state === "failed" ? { failure: change.failure } : {}),
    })
    .where("id", "=", id)
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
  notePayout(tx, row);
}

/** Stores the sum of a payout that has come back so far. */
export async function storeReturned(tx: Tx, id: PayoutId, returned: Nanos): Promise<void> {
  const row = await tx.db
    .updateTable("payouts")
    .set((eb) => ({ returned_nanos: returned, return_count: eb("return_count", "+", 1), returned_at: tx.now }))
    .where("id", "=", id)
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
  notePayout(tx, row);
}

/** The number of payouts to a host that are not sent yet. */
export async function countOpenPayoutsOf(db: Reader, userId: UserId): Promise<number> {
  const row = await db
    .selectFrom("payouts")
    .select((eb) => eb.fn.countAll<number | bigint>().as("count"))
    .where("user_id", "=", userId)
    .where("state", "in", ["pending", "sending"])
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

export type PayoutFilter = {
  readonly userId?: UserId | undefined;
  readonly ids?: readonly PayoutId[] | undefined;
  readonly states?: readonly PayoutState[] | undefined;
  readonly beforeId?: PayoutId | undefined;
  readonly limit: number;
};

/** Payouts that match a filter, newest first. */
export async function selectPayouts(db: Reader, filter: PayoutFilter): Promise<readonly Payout[]> {
  const { userId, ids, states, beforeId, limit } = filter;
  let query = db.selectFrom("payouts").select(COLUMNS);
  if (userId !== undefined) query = query.where("user_id", "=", userId);
  if (ids !== undefined) query = query.where("id", "=", sql<PayoutId>`any(${[...ids]}::integer[])`);
  if (states !== undefined) query = query.where("state", "in", states);
  if (beforeId !== undefined) query = query.where("id", "<", beforeId);
  return (await query.orderBy("id", "desc").limit(limit).execute()).map(toPayout);
}

/** Past and open payouts to a host, newest first. */
export async function listPayouts(
  db: Reader,
  userId: UserId,
  filter: Omit<PayoutFilter, "userId">,
): Promise<readonly Payout[]> {
  return selectPayouts(db, { ...filter, userId });
}

type PayoutRow = {
  readonly id: PayoutId;
  readonly user_id: UserId;
  readonly invoiced_at: Date;
  readonly due_at: Date;
  readonly earned_nanos: bigint;
  readonly fee_ppm: number;
  readonly fee_nanos: bigint;
  readonly amount_nanos: bigint;
  readonly state: PayoutState;
  readonly method: PayoutMethod | null;
  readonly destination: string | null;
  readonly reference: string | null;
  readonly failure: string | null;
  readonly attempt_count: number;
  readonly returned_nanos: bigint;
  readonly return_count: number;
  readonly created_at: Date;
  readonly settled_at: Date | null;
};

function notePayout(tx: Tx, row: PayoutRow): void {
  tx.noteFact({ kind: "payout", subject: String(row.id), content: payoutFact(toPayout(row)) });
}

/** The fact of a payout, valid until its next fact; the progress of sending it is internal to the server. */
export function payoutFact(payout: Payout) {
  const { userId, invoicedAt, dueAt, amount, state, reference, failure, returned } = payout;
  return {
    user: userId,
    invoiced_at: invoicedAt.toISOString(),
    due_at: dueAt.toISOString(),
    amount: String(amount),
    state: state === "sending" || state === "pending" ? "open" : state,
    reference: reference ?? null,
    failure: failure ?? null,
    returned: String(returned),
  };
}

function toPayout(row: PayoutRow): Payout {
  return {
    id: row.id,
    userId: row.user_id,
    invoicedAt: row.invoiced_at,
    dueAt: row.due_at,
    earned: row.earned_nanos,
    feePpm: row.fee_ppm,
    fee: nanos(row.fee_nanos),
    amount: nanos(row.amount_nanos),
    state: row.state,
    method: row.method ?? undefined,
    destination: row.destination ?? undefined,
    reference: row.reference ?? undefined,
    failure: row.failure ?? undefined,
    attemptCount: row.attempt_count,
    returned: nanos(row.state === "failed" ? row.amount_nanos : row.returned_nanos),
    returnCount: row.return_count,
    createdAt: row.created_at,
    settledAt: row.settled_at ?? undefined,
  };
}
