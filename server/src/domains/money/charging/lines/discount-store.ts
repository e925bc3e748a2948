import { sql } from "kysely";
import type { InstanceId } from "../../../../base/ids.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import type { Reader } from "../../../../db/transaction.ts";
import type { ChargeSpan } from "./line-report-store.ts";

/** The saving of these instances by discounts on their running time: list price less discounted price, paid or not. */
export async function sumDiscounts(
  db: Reader,
  { payerId, from, until }: ChargeSpan,
  instanceIds: readonly InstanceId[],
): Promise<ReadonlyMap<InstanceId, Nanos>> {
  if (instanceIds.length === 0) return new Map();
  const { rows } = await sql<{ id: InstanceId; amount: string }>`
    select instance_id as id,
      sum(div(unit_price_nanos::numeric * quantity, 3600000) - amount_nanos - unpaid_nanos)::text as amount
    from charge_lines
    where instance_id = any(${[...instanceIds]}::integer[]) and payer_id = ${payerId}::integer
      and component = 'gpu' and discount_ppm > 0
      and charged_at >= ${from}::timestamptz and charged_at < ${until}::timestamptz
    group by instance_id
  `.execute(db);
  return new Map(rows.map(({ id, amount }) => [id, nanos(BigInt(amount))]));
}
