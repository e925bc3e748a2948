import { sql } from "kysely";
import type { InstanceId, UserId } from "../../../base/ids.ts";
import { nanos, type Nanos } from "../../../base/money.ts";
import type { Reader } from "../../../db/transaction.ts";

/** The amount that a user has moved into deposits since a moment, for these instances or for all. */
export async function sumPrepaid(
  db: Reader,
  {
    userId,
    from,
    instanceIds,
  }: { readonly userId: UserId; readonly from: Date; readonly instanceIds: readonly InstanceId[] | undefined },
): Promise<Nanos> {
  const { rows } = await sql<{ total: bigint }>`
    select coalesce(sum(t.amount_nanos), 0)::bigint as total
    from ledger_transfers t
    join ledger_accounts a on a.id = t.debit_account_id
    where coalesce(a.user_id, 0) = ${userId}::integer and a.kind = 'credit' and t.code = 'prepay'
      and t.created_at >= ${from}::timestamptz
      and (
        ${instanceIds ?? null}::integer[] is null
        or (t.cause ->> 'instance_id')::integer = any(${instanceIds ?? null}::integer[])
      )
  `.execute(db);
  return nanos(rows[0]?.total ?? 0n);
}
