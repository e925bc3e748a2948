import type pg from "pg";
import { systemClock } from "../../../server/src/base/clock.ts";
import type { UserId } from "../../../server/src/base/ids.ts";
import { nanos } from "../../../server/src/base/money.ts";
import type { Database } from "../../../server/src/db/connect.ts";
import { withTransaction, type Tx } from "../../../server/src/db/transaction.ts";
import { creditOf, ISSUANCE, postTransfers } from "../../../server/src/domains/money/ledger/index.ts";
import type { AccountRef } from "../../../server/src/domains/money/ledger/for-payments.ts";
import type { TransferRequest } from "../../../server/src/domains/money/ledger/index.ts";

/** Users without anything, for money to move between. */
export async function makeUsers(pool: pg.Pool, count: number): Promise<readonly UserId[]> {
  const { rows } = await pool.query<{ id: UserId }>(
    `insert into users (email, username, created_at)
     select gen_random_uuid() || '@example.com', 'user', $2 from generate_series(1, $1) returning id`,
    [count, systemClock.now()],
  );
  return rows.map(({ id }) => id);
}

/** A user with credit. */
export async function makeFundedUser(database: Database, amount: bigint): Promise<UserId> {
  const [userId] = await makeUsers(database.pool, 1);
  if (userId === undefined) throw new Error("no user was made");
  await inTransaction(database, (tx) => postTransfers(tx, [grantOf(userId, amount)]));
  return userId;
}

export function grantOf(userId: UserId, amount: bigint): TransferRequest {
  const request = transferOf({ debit: ISSUANCE, credit: creditOf(userId), amount });
  return { ...request, code: "credit_granted" };
}

/** A transfer with a key of its own unless one is given. */
export function transferOf(
  content: { readonly debit: AccountRef; readonly credit: AccountRef; readonly amount: bigint } & Partial<
    Pick<TransferRequest, "key" | "code" | "cause">
  >,
): TransferRequest {
  return {
    key: crypto.randomUUID(),
    code: "credit_transfer",
    cause: {},
    description: "for a test",
    ...content,
    amount: nanos(content.amount),
  };
}

export function inTransaction<T>(database: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  return withTransaction(database, systemClock, work);
}
