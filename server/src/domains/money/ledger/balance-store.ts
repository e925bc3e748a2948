import { sql } from "kysely";
import type { UserId } from "../../../base/ids.ts";
import { nanos, type Nanos } from "../../../base/money.ts";
import type { Reader } from "../../../db/transaction.ts";

/** What each of these users can spend, by user; those whom no money ever touched are left out. */
export async function listSpendable(db: Reader, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, Nanos>> {
  if (userIds.length === 0) return new Map();
  const { rows } = await sql<{ user_id: UserId; spendable: bigint }>`
    select a.user_id, a.balance_nanos - a.held_nanos as spendable
    from unnest(${[...userIds]}::integer[]) as wanted (user_id)
    join ledger_accounts a on coalesce(a.user_id, 0) = wanted.user_id and a.kind = 'credit'
  `.execute(db);
  return new Map(rows.map((row) => [row.user_id, nanos(row.spendable)]));
}

/** Those of these users who can spend no more than the amount beside them, by id. */
export async function listAtMost(db: Reader, amounts: ReadonlyMap<UserId, Nanos>): Promise<readonly UserId[]> {
  if (amounts.size === 0) return [];
  const { rows } = await sql<{ user_id: UserId }>`
    select wanted.user_id
    from unnest(${[...amounts.keys()]}::integer[], ${[...amounts.values()]}::bigint[]) as wanted (user_id, amount)
    left join ledger_accounts a on coalesce(a.user_id, 0) = wanted.user_id and a.kind = 'credit'
    where coalesce(a.balance_nanos - a.held_nanos, 0) <= wanted.amount
    order by wanted.user_id
  `.execute(db);
  return rows.map((row) => row.user_id);
}

/** Users with an id above this one who have earned at least so much and did not get it yet, by id. */
export async function listEarners(
  db: Reader,
  { afterUserId, minimum, limit }: { readonly afterUserId: number; readonly minimum: Nanos; readonly limit: number },
): Promise<readonly UserId[]> {
  const { rows } = await sql<{ user_id: UserId }>`
    select coalesce(user_id, 0) as user_id
    from ledger_accounts
    where kind = 'earnings' and coalesce(user_id, 0) > ${afterUserId}::integer
      and balance_nanos - held_nanos >= ${minimum}::bigint
    order by coalesce(user_id, 0)
    limit ${limit}::integer
  `.execute(db);
  return rows.map((row) => row.user_id);
}
