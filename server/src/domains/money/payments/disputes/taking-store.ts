// Amounts that were taken back for returned card payments, by account.
import { sql } from "kysely";
import { asId, type UserId } from "../../../../base/ids.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { invariant } from "../../../../base/invariant.ts";
import { isDepositKind, type TakenFrom } from "../refunds/rules/return-keys.ts";

/** An amount that one account lost to a returned payment, for one way on which the money had reached it. */
export type Taking = TakenFrom & { readonly amount: Nanos };

export async function insertTakings(tx: Tx, key: string, takings: readonly Taking[]): Promise<void> {
  if (takings.length === 0) return;
  const rows = takings.map(({ kind, userId, through, amount }) => ({
    return_key: key,
    account_kind: kind,
    user_id: userId,
    through: [...through],
    amount_nanos: amount,
    taken_at: tx.now,
  }));
  await tx.db.insertInto("payment_takings").values(rows).execute();
}

/**
 * Open takings of a return, which were not given back: a sum for each account and way. The caller has locked the
 * return.
 */
export async function listOpenTakings(tx: Tx, key: string): Promise<readonly Taking[]> {
  const rows = await tx.db
    .selectFrom("payment_takings")
    .select(["account_kind", "user_id", "through", sql<string>`sum(amount_nanos)::text`.as("amount")])
    .where("return_key", "=", key)
    .where("given_back_at", "is", null)
    .groupBy(["account_kind", "user_id", "through"])
    .orderBy("user_id")
    .orderBy("account_kind")
    .orderBy("through")
    .execute();
  return rows.map((row) => ({
    kind: takenKindOf(row.account_kind),
    userId: row.user_id,
    through: row.through.map(asId<UserId>),
    amount: nanos(BigInt(row.amount)),
  }));
}

/** Open takings, for any payment, of money that reached or passed through these users. */
export async function listOpenTakingsAmong(
  db: Reader,
  userIds: readonly UserId[],
): Promise<readonly (Taking & { readonly payerId: UserId; readonly takenAt: Date })[]> {
  const rows = await db
    .selectFrom("payment_takings as taking")
    .innerJoin("payment_returns as returned", "returned.key", "taking.return_key")
    .innerJoin("payments as payment", "payment.intent_id", "returned.intent_id")
    .select(["taking.account_kind", "taking.user_id", "taking.through", "taking.amount_nanos", "taking.taken_at"])
    .select("payment.user_id as payer_id")
    .where("taking.given_back_at", "is", null)
    .where(
      sql<boolean>`(taking.user_id = any(${[...userIds]}::integer[]) or taking.through && ${[...userIds]}::integer[])`,
    )
    .execute();
  return rows.map((row) => ({
    kind: takenKindOf(row.account_kind),
    userId: row.user_id,
    through: row.through.map(asId<UserId>),
    amount: nanos(row.amount_nanos),
    payerId: row.payer_id,
    takenAt: row.taken_at,
  }));
}

function takenKindOf(stored: string): TakenFrom["kind"] {
  const isKnown = stored === "credit" || stored === "earnings" || isDepositKind(stored);
  invariant(isKnown, `nothing is taken from ${stored}`);
  return stored;
}

export async function closeTakings(tx: Tx, key: string): Promise<void> {
  await tx.db
    .updateTable("payment_takings")
    .set({ given_back_at: tx.now })
    .where("return_key", "=", key)
    .where("given_back_at", "is", null)
    .execute();
}
