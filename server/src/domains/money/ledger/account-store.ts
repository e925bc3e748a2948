import { sql } from "kysely";
import type { LedgerAccountId, UserId } from "../../../base/ids.ts";
import { invariant } from "../../../base/invariant.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { creditOf, storedKindOf, type AccountRef } from "./types.ts";

/** Account rows whose locks the caller's transaction holds. */
export type LockedAccounts = { readonly idOf: (account: AccountRef) => LedgerAccountId };

/**
 * Locks these accounts in the order of their ids until the transaction ends, and creates the missing ones. For callers
 * that do several things with them, such as closing holds and then posting the transfers that the holds were for.
 */
export async function lockAccounts(tx: Tx, accounts: readonly AccountRef[]): Promise<LockedAccounts> {
  const distinct = new Map(accounts.map((account) => [nameOf(account), account]));
  const users = [...distinct.values()].map(userOf);
  const kinds = [...distinct.values()].map(storedKindOf);
  let ids = await lockRows(tx, users, kinds);
  if (ids.size < distinct.size) {
    await sql`select ledger_make_accounts(${users}::integer[], ${kinds}::text[])`.execute(tx.db);
    ids = await lockRows(tx, users, kinds);
  }
  return {
    idOf: (account) => {
      const id = ids.get(nameOf(account));
      invariant(id !== undefined, `account ${nameOf(account)} is not locked`);
      return id;
    },
  };
}

async function lockRows(
  tx: Tx,
  users: readonly number[],
  kinds: readonly string[],
): Promise<ReadonlyMap<string, LedgerAccountId>> {
  if (users.length === 0) return new Map();
  const { rows } = await sql<{ id: LedgerAccountId; user_id: number; kind: string }>`
    select a.id, wanted.user_id, a.kind
    from unnest(${users}::integer[], ${kinds}::text[]) as wanted (user_id, kind)
    join ledger_accounts a on coalesce(a.user_id, 0) = wanted.user_id and a.kind = wanted.kind
    order by a.id
    for update of a
  `.execute(tx.db);
  return new Map(rows.map((row) => [`${row.kind} ${row.user_id}`, row.id]));
}

/**
 * The amount that an account can give away now: down to zero, and down to its minimum balance, which may be negative.
 */
export type Means = {
  readonly aboveZeroNanos: bigint;
  readonly aboveMinimumNanos: bigint;
  /** The amount that pending holds set aside; it is in neither of the two other amounts. */
  readonly heldNanos: bigint;
};

/**
 * The means of the credit or the earnings of these users. A caller that spends them holds the locks of these accounts.
 */
export async function readMeans(
  db: Reader,
  userIds: readonly UserId[],
  kind: "credit" | "earnings",
): Promise<ReadonlyMap<UserId, Means>> {
  const { rows } = await sql<{ user_id: UserId; held: bigint; above_zero: bigint; above_minimum: bigint }>`
    select user_id, held_nanos as held, balance_nanos - held_nanos as above_zero, balance_nanos - held_nanos - floor_nanos as above_minimum
    from ledger_accounts
    where coalesce(user_id, 0) = any(${[...new Set(userIds)]}::integer[]) and kind = ${kind}::text
  `.execute(db);
  return new Map(
    rows.map((row) => [
      row.user_id,
      { aboveZeroNanos: row.above_zero, aboveMinimumNanos: row.above_minimum, heldNanos: row.held },
    ]),
  );
}

/** Locks the credit of one user: until the transaction ends, nobody else places a hold, a charge or a cap there. */
export async function lockCredit(tx: Tx, userId: UserId): Promise<void> {
  await lockAccounts(tx, [creditOf(userId)]);
}

/**
 * Sets how low the balance of a user's credit may go: zero, or an amount below it. The caller holds the lock of the
 * credit.
 */
export async function setMinimumBalance(tx: Tx, userId: UserId, minimumNanos: bigint): Promise<void> {
  await sql`
    update ledger_accounts set floor_nanos = ${minimumNanos}::bigint
    where coalesce(user_id, 0) = ${userId}::integer and kind = 'credit'
  `.execute(tx.db);
}

function userOf(account: AccountRef): number {
  return "userId" in account ? account.userId : 0;
}

function nameOf(account: AccountRef): string {
  return `${storedKindOf(account)} ${userOf(account)}`;
}
