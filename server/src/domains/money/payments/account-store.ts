import { sql } from "kysely";
import type { UserId } from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";

/** A user's account at the provider, and the state of their automatic payments. */
export type PaymentAccount = {
  readonly userId: UserId;
  readonly customerId: string | undefined;
  /** The amount of a charge, in cents; undefined for the default. */
  readonly autobillCents: bigint | undefined;
  readonly attemptCount: number;
  /** Failed charges since the last success. */
  readonly failureCount: number;
  readonly notBeforeAt: Date | undefined;
};

const COLUMNS = [
  "user_id",
  "customer_id",
  "autobill_cents",
  "autobill_attempt_count",
  "autobill_failure_count",
  "autobill_not_before_at",
] as const;

/**
 * Locks the account of a user, and creates it when missing. Changes of its cards and charges wait until the transaction
 * ends.
 */
export async function lockAccount(tx: Tx, userId: UserId): Promise<PaymentAccount> {
  await tx.db
    .insertInto("payment_accounts")
    .values({ user_id: userId, created_at: tx.now })
    .onConflict((conflict) => conflict.column("user_id").doNothing())
    .execute();
  const row = await tx.db
    .selectFrom("payment_accounts")
    .select(COLUMNS)
    .where("user_id", "=", userId)
    .forUpdate()
    .executeTakeFirstOrThrow();
  return toAccount(row);
}

export async function findAccount(db: Reader, userId: UserId): Promise<PaymentAccount | undefined> {
  const row = await db.selectFrom("payment_accounts").select(COLUMNS).where("user_id", "=", userId).executeTakeFirst();
  return row && toAccount(row);
}

export async function findUserOfCustomer(db: Reader, customerId: string): Promise<UserId | undefined> {
  const row = await db
    .selectFrom("payment_accounts")
    .select("user_id")
    .where("customer_id", "=", customerId)
    .executeTakeFirst();
  return row?.user_id;
}

/** Stores the customer id unless there is one already; returns the stored id. */
export async function storeCustomer(tx: Tx, userId: UserId, customerId: string): Promise<string> {
  const row = await tx.db
    .updateTable("payment_accounts")
    .set((eb) => ({ customer_id: eb.fn.coalesce("customer_id", eb.val(customerId)) }))
    .where("user_id", "=", userId)
    .returning("customer_id")
    .executeTakeFirstOrThrow();
  return row.customer_id ?? customerId;
}

export async function storeAutobill(
  tx: Tx,
  userId: UserId,
  changes: {
    readonly amountCents?: bigint;
    readonly attemptCount?: number;
    readonly failureCount?: number;
    readonly notBeforeAt?: Date | null;
  },
): Promise<void> {
  await tx.db
    .updateTable("payment_accounts")
    .set({
      ...(changes.amountCents === undefined ? {} : { autobill_cents: changes.amountCents }),
      ...(changes.attemptCount === undefined ? {} : { autobill_attempt_count: changes.attemptCount }),
      ...(changes.failureCount === undefined ? {} : { autobill_failure_count: changes.failureCount }),
      ...(changes.notBeforeAt === undefined ? {} : { autobill_not_before_at: changes.notBeforeAt }),
    })
    .where("user_id", "=", userId)
    .execute();
}

/**
 * Those of these users whose card could be charged now: a card is saved, no charge is under way, and no pause follows a
 * failure.
 */
export async function listChargeable(
  db: Reader,
  { now, userIds }: { readonly now: Date; readonly userIds: readonly UserId[] },
): Promise<readonly UserId[]> {
  if (userIds.length === 0) return [];
  const { rows } = await sql<{ user_id: UserId }>`
    select a.user_id
    from payment_accounts a
    join payment_cards c on c.user_id = a.user_id and c.is_default
    where a.user_id = any(${[...userIds]}::integer[])
      and coalesce(a.autobill_not_before_at, '-infinity') <= ${now}::timestamptz
      and not exists (
        select from payments p where p.user_id = a.user_id and p.kind = 'autobill' and p.state = 'pending'
      )
      and not exists (
        select from payout_holds h where h.user_id = a.user_id and h.kind = 'disputed_money' and h.released_at is null
      )
    order by a.user_id
  `.execute(db);
  return rows.map((row) => row.user_id);
}

/** Notes that the provider may know cards of this user that are not stored here. */
export async function markStale(tx: Tx, userId: UserId): Promise<void> {
  await tx.db.updateTable("payment_accounts").set({ has_stale_cards: true }).where("user_id", "=", userId).execute();
}

export async function clearStale(tx: Tx, userId: UserId): Promise<void> {
  await tx.db.updateTable("payment_accounts").set({ has_stale_cards: false }).where("user_id", "=", userId).execute();
}

export async function listStale(db: Reader, limit: number): Promise<readonly PaymentAccount[]> {
  const rows = await db
    .selectFrom("payment_accounts")
    .select(COLUMNS)
    .where("has_stale_cards", "=", true)
    .orderBy("user_id")
    .limit(limit)
    .execute();
  return rows.map(toAccount);
}

type AccountRow = {
  readonly user_id: UserId;
  readonly customer_id: string | null;
  readonly autobill_cents: bigint | null;
  readonly autobill_attempt_count: number;
  readonly autobill_failure_count: number;
  readonly autobill_not_before_at: Date | null;
};

function toAccount(row: AccountRow): PaymentAccount {
  return {
    userId: row.user_id,
    customerId: row.customer_id ?? undefined,
    autobillCents: row.autobill_cents ?? undefined,
    attemptCount: row.autobill_attempt_count,
    failureCount: row.autobill_failure_count,
    notBeforeAt: row.autobill_not_before_at ?? undefined,
  };
}
