import { sql } from "kysely";
import type { Reader } from "../../../../db/transaction.ts";
import { arrivalRows, hostCreditSince, toSent, type SentRow } from "../../ledger/for-charging.ts";
import type { Arrival, Sent } from "../../ledger/index.ts";

/** Hosts that these users paid, by charge lines, less amounts returned for failures; the host paid last comes first. */
export async function listPaidHosts(db: Reader, payers: readonly Arrival[]): Promise<readonly Sent[]> {
  const paid = { payerId: sql`w.user_id`, hostId: sql`l.host_id`, sinceId: sql`w.since_id`, sinceAt: sql`w.since_at` };
  const { rows } = await sql<SentRow>`
    select w.user_id as from_id, l.host_id as to_id, (sum(l.amount_nanos) - ${hostCreditSince(paid)})::text as sent,
      min(l.transfer_id)::text as first_id, min(l.charged_at) as first_at
    from ${arrivalRows(payers)} as w (user_id, since_id, since_at)
    join charge_lines l on l.payer_id = w.user_id and l.charged_at >= w.since_at and l.transfer_id > w.since_id
    where l.host_id <> l.payer_id
    group by w.user_id, w.since_id, w.since_at, l.host_id
    order by max(l.id) desc
  `.execute(db);
  return rows.map(toSent);
}
