import { sql } from "kysely";
import type { InstanceId, UserId, VolumeId } from "../../../base/ids.ts";
import { nanos, type Nanos } from "../../../base/money.ts";
import type { Reader } from "../../../db/transaction.ts";

/** Some of what a user has. */
export type Contracts = { readonly instanceIds: readonly InstanceId[]; readonly volumeIds: readonly VolumeId[] };

/** Which charges: posted from then on, of these, or of all that the user has. */
export type SpentWhere = { readonly userId: UserId; readonly from: Date; readonly of: Contracts | undefined };

/** What was charged to a user's credit. What deposits paid was paid before, and is left out. */
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
