import { sql } from "kysely";
import type { UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { NANOS_PER_CENT } from "../rules/cents.ts";

/**
 * Card payments of these users, or of all, since a moment, less the amounts that went back of these payments; in
 * nano-dollars by user.
 */
export async function listYoungPayments(
  db: Reader,
  { since, userIds }: { readonly since: Date; readonly userIds?: readonly UserId[] },
): Promise<ReadonlyMap<UserId, bigint>> {
  const { rows } = await sql<{ user_id: UserId; cents: string }>`
    select p.user_id, sum(p.amount_cents - least(p.amount_cents, coalesce(r.cents, 0)))::text as cents
    from payments p
    left join lateral (
      select sum(returned_cents) as cents from payment_returns where intent_id = p.intent_id and not is_reversed
    ) r on true
    where p.state = 'paid' and p.amount_cents is not null and p.settled_at > ${since}::timestamptz
      and (${userIds === undefined}::boolean or p.user_id = any(${[...(userIds ?? [])]}::integer[]))
    group by p.user_id
  `.execute(db);
  return new Map(rows.map((row) => [row.user_id, BigInt(row.cents) * NANOS_PER_CENT]));
}
