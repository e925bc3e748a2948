import { sql } from "kysely";
import type { InstanceId, UserId } from "../../../base/ids.ts";
import { nanos, ZERO, type Nanos } from "../../../base/money.ts";
import type { Reader } from "../../../db/transaction.ts";
import type { Balance, UserAccountKind } from "./types.ts";

type OwnAccountKind = Exclude<UserAccountKind, "deposit">;

/** The balance of one account of a user; zero when it does not exist yet. */
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

/** The credit balances of these users; users without a credit account are left out. */
export async function balancesOf(db: Reader, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, Balance>> {
  if (userIds.length === 0) return new Map();
  const { rows } = await sql<{ user_id: UserId; balance: bigint; held: bigint }>`
    select user_id, balance_nanos as balance, held_nanos as held
    from ledger_accounts
    where coalesce(user_id, 0) = any (${userIds}::integer[]) and kind = 'credit'
  `.execute(db);
  return new Map(
    rows.map((row) => {
      const [balance, held] = [nanos(row.balance), nanos(row.held)];
      return [row.user_id, { balance, held, available: nanos(balance - held) }];
    }),
  );
}

/** The balances of the deposits of these instances; instances that were never prepaid are left out. */
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
