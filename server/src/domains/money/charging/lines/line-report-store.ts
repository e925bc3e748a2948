// Reads of charge lines that stay fast as lines accumulate: whole days come from sums (`charge_days`) as far as these
// reach, the rest from the lines. Each statement reads the sums and how far they reach in one snapshot.
import { sql, type RawBuilder } from "kysely";
import { asId, type InstanceId, type UserId, type VolumeId } from "../../../../base/ids.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import type { Reader } from "../../../../db/transaction.ts";

export type ChargeComponent = "gpu" | "disk" | "bwu" | "bwd";

/** Charges to a payer from `from` inclusive until `until` exclusive. */
export type ChargeSpan = { readonly payerId: UserId; readonly from: Date; readonly until: Date };

/** The sum of the charge lines of one component of one instance or volume. */
export type ChargeSum = {
  readonly instanceId: InstanceId | undefined;
  readonly volumeId: VolumeId | undefined;
  readonly component: ChargeComponent;
  /** The first of the charge lines. It names the sum, since no other sum has it. */
  readonly firstLineId: bigint;
  readonly from: Date;
  readonly to: Date;
  readonly lastChargedAt: Date;
  /** Milliseconds for gpu, bytes times milliseconds for disk, bytes for bwu and bwd. */
  readonly quantity: bigint;
  readonly amount: Nanos;
  readonly unpaid: Nanos;
  readonly lowestPrice: Nanos;
  readonly highestPrice: Nanos;
  readonly highestDiscountPpm: number;
};

/** A sum for the UTC day of charging, in days since 1970. */
export type DaySum = ChargeSum & { readonly day: number };

const DAY_MS = 86_400_000;

/** SQL: a charge line `l` as a sum of one line. */
export const LINE_SUM = sql`
  floor(extract(epoch from l.charged_at) / 86400)::integer as day, coalesce(l.instance_id, 0) as instance_id,
  coalesce(l.volume_id, 0) as volume_id, l.component, l.paid_from, 1 as line_count, l.id as first_line_id, l.from_at,
  l.to_at, l.charged_at as last_charged_at, l.quantity::numeric * coalesce(l.size_bytes, 1) as quantity, l.amount_nanos,
  l.unpaid_nanos, l.unit_price_nanos as lowest_price_nanos, l.unit_price_nanos as highest_price_nanos,
  l.discount_ppm as highest_discount_ppm`;

/** SQL: the total of such sums. */
export const ADDED = sql`
  sum(line_count)::integer as line_count, min(first_line_id) as first_line_id, min(from_at) as from_at,
  max(to_at) as to_at, max(last_charged_at) as last_charged_at, sum(quantity) as quantity,
  sum(amount_nanos)::bigint as amount_nanos, sum(unpaid_nanos)::bigint as unpaid_nanos,
  min(lowest_price_nanos) as lowest_price_nanos, max(highest_price_nanos) as highest_price_nanos,
  max(highest_discount_ppm) as highest_discount_ppm`;

/**
 * SQL: sums and charge lines of a span, each line once: sums for whole days that are added up, lines for all others.
 */
function piecesOf({ payerId, from, until }: ChargeSpan): RawBuilder<unknown> {
  const first = Math.ceil(from.getTime() / DAY_MS);
  const end = Math.max(first, Math.floor(until.getTime() / DAY_MS));
  const [wholeFrom, wholeUntil] = [new Date(first * DAY_MS), new Date(end * DAY_MS)];
  const lines = (since: RawBuilder<unknown>, before: Date) => sql`
    select ${LINE_SUM} from charge_lines l
    where l.payer_id = ${payerId}::integer and l.charged_at >= ${since} and l.charged_at < ${before}::timestamptz`;
  const at = (moment: Date) => sql`${moment}::timestamptz`;
  if (first === end) return lines(at(from), until);
  return sql`
    select day, instance_id, volume_id, component, paid_from, line_count, first_line_id, from_at, to_at,
      last_charged_at, quantity, amount_nanos, unpaid_nanos, lowest_price_nanos, highest_price_nanos,
      highest_discount_ppm
    from charge_days
    where payer_id = ${payerId}::integer and day >= ${first}::integer and day < ${end}::integer
    union all ${lines(sql`greatest(${at(wholeFrom)}, (select counted_until_at from charge_days_clock))`, wholeUntil)}
    union all ${lines(at(from), wholeFrom)}
    union all ${lines(at(wholeUntil), until)}`;
}

type SumRow = {
  readonly instance_id: InstanceId | 0;
  readonly volume_id: VolumeId | 0;
  readonly component: ChargeComponent;
  readonly first_line_id: bigint;
  readonly from_at: Date;
  readonly to_at: Date;
  readonly last_charged_at: Date;
  readonly quantity: string;
  readonly amount_nanos: bigint;
  readonly unpaid_nanos: bigint;
  readonly lowest_price_nanos: bigint;
  readonly highest_price_nanos: bigint;
  readonly highest_discount_ppm: number;
};

/** Selects charges by what paid them: credit or a deposit. */
export type PaidFrom = "credit" | "deposit";

/** Sums by day, instance or volume, and component, newest days first; at most `limit`. */
export async function listDaySums(
  db: Reader,
  span: ChargeSpan,
  { limit, paidFrom }: { readonly limit: number; readonly paidFrom?: PaidFrom },
): Promise<readonly DaySum[]> {
  const { rows } = await sql<SumRow & { readonly day: number }>`
    select day, instance_id, volume_id, component, ${ADDED} from (${piecesOf(span)}) as piece
    where ${paidFrom ?? null}::text is null or paid_from = ${paidFrom ?? null}::text
    group by day, instance_id, volume_id, component
    order by day desc, instance_id desc, volume_id desc, component
    limit ${limit}::integer
  `.execute(db);
  return rows.map((row): DaySum => ({ ...toSum(row), day: row.day }));
}

/** Sums by instance or volume and component, instances first, in the order of their ids. */
export async function listContractSums(db: Reader, span: ChargeSpan): Promise<readonly ChargeSum[]> {
  const { rows } = await sql<SumRow>`
    select instance_id, volume_id, component, ${ADDED} from (${piecesOf(span)}) as piece
    group by instance_id, volume_id, component
    order by volume_id, instance_id, array_position('{gpu,disk,bwd,bwu}'::text[], component)
  `.execute(db);
  return rows.map(toSum);
}

function toSum(row: SumRow): ChargeSum {
  return {
    instanceId: row.instance_id === 0 ? undefined : row.instance_id,
    volumeId: row.volume_id === 0 ? undefined : row.volume_id,
    component: row.component,
    firstLineId: row.first_line_id,
    from: row.from_at,
    to: row.to_at,
    lastChargedAt: row.last_charged_at,
    quantity: BigInt(row.quantity),
    amount: nanos(row.amount_nanos),
    unpaid: nanos(row.unpaid_nanos),
    lowestPrice: nanos(row.lowest_price_nanos),
    highestPrice: nanos(row.highest_price_nanos),
    highestDiscountPpm: row.highest_discount_ppm,
  };
}

/** The total of a span: the amount, and the number of charge lines. */
export async function totalCharged(
  db: Reader,
  span: ChargeSpan,
  { instanceId }: { readonly instanceId?: InstanceId | undefined } = {},
): Promise<{ readonly amount: Nanos; readonly lineCount: number }> {
  const { rows } = await sql<{ amount: bigint; lines: number }>`
    select coalesce(sum(amount_nanos), 0)::bigint as amount, coalesce(sum(line_count), 0)::integer as lines
    from (${piecesOf(span)}) as piece
    where ${instanceId ?? null}::integer is null or instance_id = ${instanceId ?? null}::integer
  `.execute(db);
  return { amount: nanos(rows[0]?.amount ?? 0n), lineCount: rows[0]?.lines ?? 0 };
}

/** The instances with a charge in the span, including charges that could not be paid. */
export async function listChargedInstances(db: Reader, span: ChargeSpan): Promise<readonly InstanceId[]> {
  const { rows } = await sql<{ id: InstanceId }>`
    select distinct instance_id as id from (${piecesOf(span)}) as piece where instance_id > 0 order by 1
  `.execute(db);
  return rows.map(({ id }) => id);
}

/** The subject of a charge in the report: an instance, a volume, or the endpoint that an instance works for. */
export type ChargeKind = "volume" | "instance" | "serverless" | "endpoint";
export type ChargeKey = { readonly day: number; readonly kind: ChargeKind; readonly id: number };

export type KeyQuery = {
  readonly span: ChargeSpan;
  /** The endpoint of each instance that works for one. */
  readonly workers: ReadonlyMap<InstanceId, number>;
  /** True to show the charges of such instances under their endpoints. */
  readonly isTree: boolean;
  /** The kinds to list; undefined for all. */
  readonly kinds: readonly ChargeKind[] | undefined;
  readonly isNewestFirst: boolean;
  readonly after: ChargeKey | undefined;
  readonly limit: number;
};

/** The keys of one page of charges, each a day of one subject; the number of all keys and their total. */
export async function listChargeKeys(
  db: Reader,
  { span, workers, isTree, kinds, isNewestFirst, after, limit }: KeyQuery,
): Promise<{ readonly keys: readonly ChargeKey[]; readonly total: number; readonly amount: Nanos }> {
  const direction = isNewestFirst ? sql`desc` : sql`asc`;
  const comparison = isNewestFirst ? sql`<` : sql`>`;
  const { rows } = await sql<ChargeKey & { total: number; all_nanos: bigint | null }>`
    with worker as (
      select * from unnest(${[...workers.keys()]}::integer[], ${[...workers.values()]}::integer[]) as w (instance_id, endpoint_id)
    ), found as materialized (
      select piece.day,
        case when piece.volume_id > 0 then 'volume' when w.instance_id is null then 'instance'
          when ${isTree}::boolean then 'endpoint' else 'serverless' end as kind,
        case when piece.volume_id > 0 then piece.volume_id when w.instance_id is not null and ${isTree}::boolean
          then w.endpoint_id else piece.instance_id end as id,
        sum(piece.amount_nanos) as amount
      from (${piecesOf(span)}) as piece
      left join worker w on w.instance_id = piece.instance_id
      group by 1, 2, 3
    ), chosen as materialized (
      select * from found where ${kinds ?? null}::text[] is null or kind = any (${kinds ?? null}::text[])
    ), page as (
      select day, kind, id from chosen
      where ${after?.day ?? null}::integer is null
        or (day, kind, id) ${comparison} (${after?.day ?? null}::integer, ${after?.kind ?? null}::text, ${after?.id ?? null}::integer)
      order by day ${direction}, kind ${direction}, id ${direction}
      limit ${limit}::integer
    )
    select page.day, page.kind, page.id, whole.total, whole.all_nanos
    from (select count(*)::integer as total, sum(amount)::bigint as all_nanos from chosen) as whole
    left join page on true
    order by day ${direction}, kind ${direction}, id ${direction}
  `.execute(db);
  const keys = rows.filter(({ day }) => day !== null).map(({ day, kind, id }): ChargeKey => ({ day, kind, id }));
  return { keys, total: rows[0]?.total ?? 0, amount: nanos(rows[0]?.all_nanos ?? 0n) };
}

/** The charges of one day for one component of one kind of contract. */
export type DayTotal = {
  /** The UTC day of charging, in days since 1970. */
  readonly day: number;
  readonly kind: Exclude<ChargeKind, "endpoint">;
  readonly component: ChargeComponent;
  readonly amount: Nanos;
};

/** Charges by day, kind and component, in the order of days. `workers` are instances that work for an endpoint. */
export async function sumChargedByDay(
  db: Reader,
  span: ChargeSpan,
  workers: readonly InstanceId[],
): Promise<readonly DayTotal[]> {
  const { rows } = await sql<Omit<DayTotal, "amount"> & { readonly amount: string }>`
    with worker as (select * from unnest(${[...workers]}::integer[]) as w (instance_id))
    select piece.day,
      case when piece.volume_id > 0 then 'volume' when w.instance_id is null then 'instance' else 'serverless' end as kind,
      piece.component, sum(piece.amount_nanos)::text as amount
    from (${piecesOf(span)}) as piece
    left join worker w on w.instance_id = piece.instance_id
    group by 1, 2, 3
    order by 1, 2, 3
  `.execute(db);
  return rows.map((row) => ({ ...row, amount: nanos(BigInt(row.amount)) }));
}

/** The charges of one instance or volume on one day. */
export type ContractDay = {
  readonly day: number;
  readonly instanceId: InstanceId | undefined;
  readonly volumeId: VolumeId | undefined;
  readonly amount: Nanos;
};

/** Charges by day and contract, in the order of days. */
export async function sumContractsByDay(db: Reader, span: ChargeSpan): Promise<readonly ContractDay[]> {
  const { rows } = await sql<{ day: number; instance: number; volume: number; amount: string }>`
    select piece.day, piece.instance_id as instance, piece.volume_id as volume, sum(piece.amount_nanos)::text as amount
    from (${piecesOf(span)}) as piece group by 1, 2, 3 order by 1, 2, 3
  `.execute(db);
  return rows.map(({ day, instance, volume, amount }) => ({
    day,
    instanceId: instance > 0 ? asId<InstanceId>(instance) : undefined,
    volumeId: volume > 0 ? asId<VolumeId>(volume) : undefined,
    amount: nanos(BigInt(amount)),
  }));
}

/** A transfer of the payer's credit, by its time and id. */
export type CreditPlace = { readonly at: Date; readonly transferId: bigint };

/**
 * Charges to the payer's credit after each of these places, by the transfer's id. Whole days come from sums; only the
 * days of the places are read line by line, each once.
 */
export async function sumCreditChargedAfter(
  db: Reader,
  payerId: UserId,
  places: readonly CreditPlace[],
  now: Date,
): Promise<ReadonlyMap<bigint, bigint>> {
  const earliest = places.reduce((least, { at }) => Math.min(least, at.getTime()), now.getTime());
  const dayOf = (ms: number) => Math.floor(ms / DAY_MS);
  // Another server's clock may be ahead of this one's.
  const [from, until] = [new Date(dayOf(earliest) * DAY_MS), new Date((dayOf(now.getTime()) + 2) * DAY_MS)];
  const { rows } = await sql<{ id: bigint; amount: string }>`
    with place as (
      select at, id, floor(extract(epoch from at) / 86400)::integer as day
      from unnest(${places.map(({ at }) => at)}::timestamptz[], ${places.map((one) => one.transferId)}::bigint[]) as p (at, id)
    ), days as (
      select day, sum(sum(amount)) over (order by day desc rows between unbounded preceding and 1 preceding) as later
      from (
        select piece.day, piece.amount_nanos as amount from (${piecesOf({ payerId, from, until })}) as piece
        where piece.paid_from = 'credit'
        union all select day, 0 from place
      ) as one
      group by day
    ), entry as (
      select d.day, l.charged_at as at, l.transfer_id as id, l.amount_nanos as amount, false as is_place
      from (select distinct day from place) as d
      join charge_lines l on l.payer_id = ${payerId}::integer and l.charged_at >= to_timestamp(d.day * 86400::bigint)
        and l.charged_at < to_timestamp((d.day + 1) * 86400::bigint)
      where l.paid_from = 'credit' and l.transfer_id is not null
      union all select day, at, id, 0, true from place
    ), running as (
      select day, id, is_place, sum(amount) over (partition by day order by at desc, id desc) as within from entry
    )
    select running.id, (running.within + coalesce(days.later, 0))::text as amount
    from running join days using (day) where running.is_place
  `.execute(db);
  return new Map(rows.map(({ id, amount }) => [id, BigInt(amount)]));
}

/** Those of these users who were charged in the span, or could not pay a charge. */
export async function listPayersAmong(
  db: Reader,
  userIds: readonly UserId[],
  { from, until }: { readonly from: Date; readonly until: Date },
): Promise<readonly UserId[]> {
  const { rows } = await sql<{ id: UserId }>`
    select u.id from unnest(${[...userIds]}::integer[]) as u (id)
    where exists (
      select from charge_lines l
      where l.payer_id = u.id and l.charged_at >= ${from}::timestamptz and l.charged_at < ${until}::timestamptz
    )
    order by 1
  `.execute(db);
  return rows.map(({ id }) => id);
}
