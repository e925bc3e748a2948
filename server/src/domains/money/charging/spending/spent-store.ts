import { sql } from "kysely";
import type { InstanceId, UserId, VolumeId } from "../../../../base/ids.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import type { Reader } from "../../../../db/transaction.ts";

/** Some of a user's instances and volumes. */
export type Contracts = { readonly instanceIds: readonly InstanceId[]; readonly volumeIds: readonly VolumeId[] };

/** Selects charges since `from`, of these instances and volumes, or of all when `of` is undefined. */
export type SpentWhere = { readonly userId: UserId; readonly from: Date; readonly of: Contracts | undefined };

/** Charges to a user's credit. Charges that deposits paid are left out, since the prepayments count as spent. */
export async function sumCharged(db: Reader, { userId, from, of }: SpentWhere): Promise<Nanos> {
  const { rows } = await sql<{ total: bigint }>`
    select coalesce(sum(l.amount_nanos), 0)::bigint as total
    from charge_lines l
    where l.payer_id = ${userId}::integer and l.charged_at >= ${from}::timestamptz and l.paid_from = 'credit'
      and (
        ${of === undefined}::boolean or l.instance_id = any(${of?.instanceIds ?? []}::integer[])
        or l.volume_id = any(${of?.volumeIds ?? []}::integer[])
      )
  `.execute(db);
  return nanos(rows[0]?.total ?? 0n);
}
