// Charge lines that were charged in a later month than they began in: runs across the end of a month, and late reports.
// An invoice shows usage in its own month, so it needs the parts of such lines by month.
import { sql } from "kysely";
import type { InstanceId, VolumeId } from "../../../../base/ids.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import type { Reader } from "../../../../db/transaction.ts";
import type { ChargeComponent, ChargeSpan, ChargeSum } from "./line-report-store.ts";

/** The part of charge lines of a span whose usage happened in one month before the span or at its beginning. */
export type MonthPortion = ChargeSum & {
  /** The first instant of the month (UTC). */
  readonly month: Date;
  /** The saving by discounts. */
  readonly discount: Nanos;
};

type Row = {
  readonly month: Date;
  readonly instance_id: InstanceId | null;
  readonly volume_id: VolumeId | null;
  readonly component: ChargeComponent;
  readonly first_line_id: bigint;
  readonly from_at: Date;
  readonly to_at: Date;
  readonly last_charged_at: Date;
  readonly quantity: string;
  readonly amount: string;
  readonly unpaid: string;
  readonly discount: string;
  readonly lowest: bigint;
  readonly highest: bigint;
  readonly discount_ppm: number;
};

/**
 * The parts of charge lines of a span whose usage happened in months before `before`, by month, instance or volume, and
 * component. A line is divided in proportion to its time; the earlier month's share is rounded down and the later one
 * has the rest, so that the parts add up.
 */
export async function listMonthPortions(
  db: Reader,
  { payerId, from, until }: ChargeSpan,
  before: Date,
): Promise<readonly MonthPortion[]> {
  const part = (of: string) => {
    const whole = sql.ref(of);
    return sql`sum(div(${whole}::numeric * last_ms, length_ms) - div(${whole}::numeric * first_ms, length_ms))::text`;
  };
  // The condition on months repeats that of an index (migration 0301) word for word.
  const { rows } = await sql<Row>`
    with line as (
      select id, instance_id, volume_id, component, from_at, to_at, charged_at, unit_price_nanos, discount_ppm,
        quantity::numeric * coalesce(size_bytes, 1) as counted, amount_nanos, unpaid_nanos,
        case when component = 'gpu' and discount_ppm > 0
          then div(unit_price_nanos::numeric * quantity, 3600000) - amount_nanos - unpaid_nanos else 0 end as saved,
        round(extract(epoch from from_at) * 1000) as from_ms,
        greatest(round(extract(epoch from to_at - from_at) * 1000), 1) as length_ms
      from charge_lines
      where payer_id = ${payerId}::integer
        and date_trunc('month', from_at at time zone 'UTC') < date_trunc('month', charged_at at time zone 'UTC')
        and charged_at >= ${from}::timestamptz and charged_at < ${until}::timestamptz
        and from_at < ${before}::timestamptz
    ), piece as (
      select line.*, m.start_at, m.end_at,
        least(greatest(round(extract(epoch from m.start_at) * 1000) - from_ms, 0), length_ms) as first_ms,
        case when m.end_at > to_at then length_ms else round(extract(epoch from m.end_at) * 1000) - from_ms end as last_ms
      from line cross join lateral (
        select s at time zone 'UTC' as start_at, (s + interval '1 month') at time zone 'UTC' as end_at
        from generate_series(
          date_trunc('month', from_at at time zone 'UTC'), to_at at time zone 'UTC', interval '1 month'
        ) as s
      ) as m
      where m.start_at < ${before}::timestamptz
    )
    select start_at as month, instance_id, volume_id, component, min(id) as first_line_id,
      min(greatest(from_at, start_at)) as from_at, max(least(to_at, end_at)) as to_at,
      max(charged_at) as last_charged_at, ${part("counted")} as quantity, ${part("amount_nanos")} as amount,
      ${part("unpaid_nanos")} as unpaid, ${part("saved")} as discount,
      min(unit_price_nanos) as lowest, max(unit_price_nanos) as highest, max(discount_ppm) as discount_ppm
    from piece where first_ms < last_ms
    group by start_at, instance_id, volume_id, component
    order by start_at, volume_id nulls first, instance_id, component
  `.execute(db);
  return rows.map((row) => ({
    month: row.month,
    instanceId: row.instance_id ?? undefined,
    volumeId: row.volume_id ?? undefined,
    component: row.component,
    firstLineId: row.first_line_id,
    from: row.from_at,
    to: row.to_at,
    lastChargedAt: row.last_charged_at,
    quantity: BigInt(row.quantity),
    amount: nanos(BigInt(row.amount)),
    unpaid: nanos(BigInt(row.unpaid)),
    discount: nanos(BigInt(row.discount)),
    lowestPrice: nanos(row.lowest),
    highestPrice: nanos(row.highest),
    highestDiscountPpm: row.discount_ppm,
  }));
}

type ContractComponent = Pick<ChargeSum, "instanceId" | "volumeId" | "component">;

/**
 * For these components, the earliest time after `after` that charge lines of a span cover: a line that began before it
 * counts from `after` on. Components without such a line are left out.
 */
export async function listBeginnings(
  db: Reader,
  { payerId, from, until }: ChargeSpan,
  { after, of }: { readonly after: Date; readonly of: readonly ContractComponent[] },
): Promise<readonly (ContractComponent & { readonly from: Date })[]> {
  if (of.length === 0) return [];
  const { rows } = await sql<Pick<Row, "instance_id" | "volume_id" | "component" | "from_at">>`
    select instance_id, volume_id, component, min(greatest(from_at, ${after}::timestamptz)) as from_at
    from charge_lines
    where payer_id = ${payerId}::integer
      and charged_at >= ${from}::timestamptz and charged_at < ${until}::timestamptz and to_at > ${after}::timestamptz
      and (coalesce(instance_id, 0), coalesce(volume_id, 0), component) in (
        select * from unnest(
          ${of.map(({ instanceId }) => instanceId ?? 0)}::integer[],
          ${of.map(({ volumeId }) => volumeId ?? 0)}::integer[],
          ${of.map(({ component }) => component)}::text[]
        )
      )
    group by instance_id, volume_id, component
  `.execute(db);
  return rows.map((row) => ({
    instanceId: row.instance_id ?? undefined,
    volumeId: row.volume_id ?? undefined,
    component: row.component,
    from: row.from_at,
  }));
}
