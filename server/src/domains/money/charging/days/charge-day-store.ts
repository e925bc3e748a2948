import { sql } from "kysely";
import type { Tx } from "../../../../db/transaction.ts";
import { ADDED, LINE_SUM } from "../lines/line-report-store.ts";

/** Longest age of an open transaction: charge lines before it are all committed. */
const LAG_MS = 900_000;
/** Longest period that one step adds up. */
const STRETCH_MS = 6 * 3_600_000;

/**
 * Adds the charge lines of the next period to the daily sums; returns the number of sums, or undefined when everything
 * is added up. Locks the clock's row, so that one process does it at a time.
 */
export async function addUpCharges(tx: Tx): Promise<number | undefined> {
  const { counted_until_at: counted } = await tx.db
    .selectFrom("charge_days_clock")
    .select("counted_until_at")
    .forUpdate()
    .executeTakeFirstOrThrow();
  const since = counted ?? (await firstLineAt(tx));
  const endMs = tx.now.getTime() - LAG_MS;
  if (since === undefined || endMs <= since.getTime()) return undefined;
  const until = new Date(Math.min(endMs, since.getTime() + STRETCH_MS));
  const added = await sql`
    insert into charge_days (
      payer_id, day, instance_id, volume_id, component, paid_from, line_count, first_line_id, from_at, to_at,
      last_charged_at, quantity, amount_nanos, unpaid_nanos, lowest_price_nanos, highest_price_nanos,
      highest_discount_ppm
    )
    select payer_id, day, instance_id, volume_id, component, paid_from, ${ADDED}
    from (
      select l.payer_id, ${LINE_SUM} from charge_lines l
      where l.charged_at >= ${since}::timestamptz and l.charged_at < ${until}::timestamptz
    ) as piece
    group by payer_id, day, instance_id, volume_id, component, paid_from
    on conflict (payer_id, day, instance_id, volume_id, component, paid_from) do update set
      line_count = charge_days.line_count + excluded.line_count,
      first_line_id = least(charge_days.first_line_id, excluded.first_line_id),
      from_at = least(charge_days.from_at, excluded.from_at),
      to_at = greatest(charge_days.to_at, excluded.to_at),
      last_charged_at = greatest(charge_days.last_charged_at, excluded.last_charged_at),
      quantity = charge_days.quantity + excluded.quantity,
      amount_nanos = charge_days.amount_nanos + excluded.amount_nanos,
      unpaid_nanos = charge_days.unpaid_nanos + excluded.unpaid_nanos,
      lowest_price_nanos = least(charge_days.lowest_price_nanos, excluded.lowest_price_nanos),
      highest_price_nanos = greatest(charge_days.highest_price_nanos, excluded.highest_price_nanos),
      highest_discount_ppm = greatest(charge_days.highest_discount_ppm, excluded.highest_discount_ppm)
  `.execute(tx.db);
  const count = Number(added.numAffectedRows ?? 0n);
  const reached = count > 0 ? until : await nextLineAt(tx, until, new Date(endMs));
  await tx.db.updateTable("charge_days_clock").set({ counted_until_at: reached }).execute();
  return count;
}

/**
 * The time of the first charge line of all. Ids are not strictly ordered by time, so this reads every line, once,
 * before the first sums.
 */
async function firstLineAt(tx: Tx): Promise<Date | undefined> {
  const { first } = await tx.db
    .selectFrom("charge_lines")
    .select(({ fn }) => fn.min("charged_at").as("first"))
    .executeTakeFirstOrThrow();
  return first ?? undefined;
}

/** The time of the next charge line, or `end`: time without charges is skipped. */
async function nextLineAt(tx: Tx, since: Date, end: Date): Promise<Date> {
  const { rows } = await sql<{ next: Date }>`
    select coalesce(min(charged_at), ${end}::timestamptz) as next from charge_lines
    where charged_at >= ${since}::timestamptz and charged_at < ${end}::timestamptz
  `.execute(tx.db);
  return rows[0]?.next ?? end;
}
