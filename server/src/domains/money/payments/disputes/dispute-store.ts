// Disputes of card payments, as administrators see them.
import { sql } from "kysely";
import type { PaymentId, UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";

export const DISPUTE_PREFIX = "dispute:";

/** `won` and `lost` are the operator's point of view. */
export type DisputeState = "open" | "lost" | "won";

export type Dispute = {
  /** The provider's name of the dispute. */
  readonly reference: string;
  readonly userId: UserId;
  readonly paymentId: PaymentId;
  readonly cents: bigint;
  readonly state: DisputeState;
  readonly openedAt: Date;
  readonly closedAt: Date | undefined;
};

/**
 * The disputes of at most `accountsMax` accounts, newest first; without `all` only of accounts with an open or lost
 * dispute.
 */
export async function listDisputes(
  db: Reader,
  { all, accountsMax }: { readonly all: boolean; readonly accountsMax: number },
): Promise<readonly Dispute[]> {
  const { rows } = await sql<{
    readonly key: string;
    readonly user_id: UserId;
    readonly payment_id: PaymentId;
    readonly cents: bigint;
    readonly is_won: boolean;
    readonly created_at: Date;
    readonly closed_at: Date | null;
  }>`
    with known as (
      select r.key, p.user_id, p.id as payment_id, r.returned_cents as cents, r.is_reversed as is_won, r.created_at, r.closed_at
      from payment_returns r join payments p on p.intent_id = r.intent_id and p.state = 'paid'
      where r.key like 'dispute:%'
    ), wanted as (
      select user_id from known group by user_id
      having ${all}::boolean or bool_or(not is_won)
      order by max(created_at) desc, user_id
      limit ${accountsMax}::integer
    )
    select known.* from known join wanted using (user_id) order by known.created_at desc, known.key
  `.execute(db);
  return rows.map((row) => ({
    reference: row.key.slice(DISPUTE_PREFIX.length),
    userId: row.user_id,
    paymentId: row.payment_id,
    cents: row.cents,
    state: row.is_won ? "won" : row.closed_at === null ? "open" : "lost",
    openedAt: row.created_at,
    closedAt: row.closed_at ?? undefined,
  }));
}

/** True when a dispute of the user's payments is open or was lost. */
export async function hasDispute(db: Reader, userId: UserId): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (
      select from payments p join payment_returns r on r.intent_id = p.intent_id
      where p.user_id = ${userId}::integer and p.state = 'paid' and r.key like 'dispute:%' and not r.is_reversed
    ) as found
  `.execute(db);
  return rows[0]?.found ?? false;
}
