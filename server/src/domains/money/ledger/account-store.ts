import { sql } from "kysely";
import type { LedgerAccountId, UserId } from "../../../base/ids.ts";
import { invariant } from "../../../base/invariant.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { creditOf, storedKindOf, type AccountRef } from "./types.ts";

/** The rows of accounts whose locks somebody holds. */
export type LockedAccounts = { readonly idOf: (account: AccountRef) => LedgerAccountId };

/**
 * Locks these accounts, by id, until the transaction ends, and makes those that are not there yet: for whoever does more
 * than one thing with them, such as closing holds and then posting what they were for.
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

/** What an account may give away now: down to nothing, and down to its floor, which may be below that. */
export type Means = {
  readonly aboveZeroNanos: bigint;
  readonly aboveFloorNanos: bigint;
  /** What is set aside, and is no part of the two. */
  readonly heldNanos: bigint;
};

/** The same of the credit of these users, or of what they have earned; who means to use it holds their locks. */
export async function readMeans(
  db: Reader,
  userIds: readonly UserId[],
  kind: "credit" | "earnings",
): Promise<ReadonlyMap<UserId, Means>> {
  const { rows } = await sql<{ user_id: UserId; held: bigint; above_zero: bigint; above_floor: bigint }>`
    select user_id, held_nanos as held, balance_nanos - held_nanos as above_zero, balance_nanos - held_nanos - floor_nanos as above_floor
    from ledger_accounts
    where coalesce(user_id, 0) = any(${[...new Set(userIds)]}::integer[]) and kind = ${kind}::text
  `.execute(db);
  return new Map(
    rows.map((row) => [
      row.user_id,
      { aboveZeroNanos: row.above_zero, aboveFloorNanos: row.above_floor, heldNanos: row.held },
    ]),
  );
}

/** Locks the credit of one user: until the transaction ends, nothing is held, charged or limited there. */
export async function lockCredit(tx: Tx, userId: UserId): Promise<void> {
  await lockAccounts(tx, [creditOf(userId)]);
}

/** States how far below zero the credit of a user may go; zero for not at all. The caller holds its lock. */
export async function setCreditFloor(tx: Tx, userId: UserId, floorNanos: bigint): Promise<void> {
  await sql`
    update ledger_accounts set floor_nanos = ${floorNanos}::bigint
    where coalesce(user_id, 0) = ${userId}::integer and kind = 'credit'
  `.execute(tx.db);
}

function userOf(account: AccountRef): number {
  return "userId" in account ? account.userId : 0;
}

function nameOf(account: AccountRef): string {
  return `${storedKindOf(account)} ${userOf(account)}`;
}
