import { sql } from "kysely";
import type { PaymentId, UserId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import type { RefundResult } from "../provider/provider.ts";

/** A requested refund that the provider has not answered. */
export type WantedRefund = {
  readonly id: number;
  readonly intentId: string;
  readonly amountCents: bigint;
  readonly firstAskedAt: Date;
};

export async function insertRefund(
  tx: Tx,
  refund: { readonly paymentId: PaymentId; readonly amountCents: bigint },
): Promise<void> {
  await tx.db
    .insertInto("payment_refunds")
    .values({ payment_id: refund.paymentId, amount_cents: refund.amountCents, created_at: tx.now })
    .execute();
}

/** The sum of a payment's refunds by administrators, requested ones included. */
export async function sumRefunds(db: Reader, paymentId: PaymentId): Promise<bigint> {
  const { rows } = await sql<{ cents: string }>`
    select coalesce(sum(amount_cents), 0)::text as cents from payment_refunds
    where payment_id = ${paymentId}::integer and state <> 'refused'
  `.execute(db);
  return BigInt(rows[0]?.cents ?? "0");
}

/** The sum of a user's refunds, over all payments, that are requested and not booked yet. */
export async function sumUnbookedRefunds(db: Reader, userId: UserId): Promise<bigint> {
  const { rows } = await sql<{ cents: string }>`
    select coalesce(sum(greatest(wanted.cents - booked.cents, 0)), 0)::text as cents
    from (
      select p.intent_id, sum(r.amount_cents) as cents
      from payments p join payment_refunds r on r.payment_id = p.id
      where p.user_id = ${userId}::integer and r.state <> 'refused'
      group by p.intent_id
    ) wanted
    cross join lateral (
      select coalesce(sum(returned_cents), 0) as cents from payment_returns
      where intent_id = wanted.intent_id and key like 'refund:%'
    ) booked
  `.execute(db);
  return BigInt(rows[0]?.cents ?? "0");
}

/** Marks refunds as being asked for, so that the time of the first request survives a crash. */
export async function claimRefunds(tx: Tx, limit: number): Promise<readonly WantedRefund[]> {
  const { rows } = await sql<{ id: number; intent_id: string; amount_cents: bigint; first_asked_at: Date }>`
    with wanted as (
      select r.id, p.intent_id from payment_refunds r join payments p on p.id = r.payment_id
      where r.state = 'wanted'
      order by r.id
      limit ${limit}::integer
      for update of r skip locked
    )
    update payment_refunds set first_asked_at = coalesce(first_asked_at, ${tx.now}::timestamptz)
    from wanted where payment_refunds.id = wanted.id
    returning payment_refunds.id, wanted.intent_id, amount_cents, first_asked_at
  `.execute(tx.db);
  return rows.map((row) => ({
    id: row.id,
    intentId: row.intent_id,
    amountCents: row.amount_cents,
    firstAskedAt: row.first_asked_at,
  }));
}

export async function settleRefund(tx: Tx, id: number, result: RefundResult): Promise<void> {
  await tx.db
    .updateTable("payment_refunds")
    .set({ state: result.kind, failure: result.kind === "refused" ? result.reason : null })
    .where("id", "=", id)
    .where("state", "=", "wanted")
    .execute();
}
