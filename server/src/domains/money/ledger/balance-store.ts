import { sql, type RawBuilder } from "kysely";
import type { UserId } from "../../../base/ids.ts";
import { nanos, type Nanos } from "../../../base/money.ts";
import type { Reader } from "../../../db/transaction.ts";

/** Credit that each of these users can spend, in nano-dollars; users without a credit account are left out. */
export async function listSpendable(db: Reader, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, Nanos>> {
  if (userIds.length === 0) return new Map();
  const { rows } = await sql<{ user_id: UserId; spendable: bigint }>`
    select a.user_id, a.balance_nanos - a.held_nanos as spendable
    from unnest(${[...userIds]}::integer[]) as wanted (user_id)
    join ledger_accounts a on coalesce(a.user_id, 0) = wanted.user_id and a.kind = 'credit'
  `.execute(db);
  return new Map(rows.map((row) => [row.user_id, nanos(row.spendable)]));
}

/** Users, by id, who can spend no more than the amount beside them. */
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

/** Users above an id whose unpaid earnings reach an amount, in the order of their ids. */
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

/** SQL for other stores: true for a host with a debt, that is, with negative earnings. */
export const hasNegativeEarnings = (hostId: RawBuilder<unknown>) =>
  sql<boolean>`exists (
    select from ledger_accounts a where a.user_id = ${hostId} and a.kind = 'earnings' and a.balance_nanos < 0
  )`;
