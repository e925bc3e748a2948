// Daily sums of charges, as the audit reads them.
import { sql } from "kysely";
import type { UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { ADDED, LINE_SUM } from "../lines/line-report-store.ts";

/** A daily sum that differs from its charge lines, with each column that differs. */
export type WrongDay = {
  readonly payerId: UserId;
  /** Days (UTC) since 1970. */
  readonly day: number;
  readonly contract: string;
  readonly component: string;
  readonly paidFrom: string;
  /** `stored` is undefined when the sum is missing, `expected` when it has no charge lines. */
  readonly stored: Readonly<Record<string, string>> | undefined;
  readonly expected: Readonly<Record<string, string>> | undefined;
};

const KEY = sql`payer_id, day, instance_id, volume_id, component, paid_from`;
const COLUMNS = [
  "line_count",
  "first_line_id",
  "from_at",
  "to_at",
  "last_charged_at",
  "quantity",
  "amount_nanos",
  "unpaid_nanos",
  "lowest_price_nanos",
  "highest_price_nanos",
  "highest_discount_ppm",
] as const;
const VALUES = sql`jsonb_build_object(${sql.join(COLUMNS.map((name) => sql`${sql.lit(name)}::text, ${sql.ref(name)}::text`))})`;

/**
 * Adds up the charge lines of each day from that of `from` on, as far as the loop has added them up, and returns sums
 * that differ.
 */
export async function listWrongDays(
  db: Reader,
  from: Date | undefined,
): Promise<{ readonly examined: number; readonly wrong: readonly WrongDay[] }> {
  const fromDay = from === undefined ? 0 : Math.floor(from.getTime() / DAY_MS);
  const { rows } = await sql<{
    readonly examined: number;
    readonly payer_id: UserId | null;
    readonly day: number;
    readonly instance_id: number;
    readonly volume_id: number;
    readonly component: string;
    readonly paid_from: string;
    readonly stored: Readonly<Record<string, string>> | null;
    readonly expected: Readonly<Record<string, string>> | null;
  }>`
    with stored as (
      select ${KEY}, ${VALUES} as said from charge_days where day >= ${fromDay}::integer
    ), expected as (
      select ${KEY}, ${VALUES} as said from (
        select payer_id, day, instance_id, volume_id, component, paid_from, ${ADDED}
        from (
          select l.payer_id, ${LINE_SUM} from charge_lines l
          where l.charged_at >= ${new Date(fromDay * DAY_MS)}::timestamptz
            and l.charged_at < (select counted_until_at from charge_days_clock)
        ) as piece
        group by ${KEY}
      ) as sums
    ), wrong as (
      select ${KEY}, stored.said as stored, expected.said as expected
      from stored full join expected using (${KEY})
      where stored.said is distinct from expected.said
    )
    select (select count(*)::integer from stored) as examined, wrong.*
    from (select) as one left join wrong on true
    order by ${KEY}
  `.execute(db);
  return {
    examined: rows[0]?.examined ?? 0,
    wrong: rows.flatMap((row): readonly WrongDay[] =>
      row.payer_id === null
        ? []
        : [
            {
              payerId: row.payer_id,
              day: row.day,
              contract: row.instance_id > 0 ? `instance ${row.instance_id}` : `volume ${row.volume_id}`,
              component: row.component,
              paidFrom: row.paid_from,
              stored: row.stored ?? undefined,
              expected: row.expected ?? undefined,
            },
          ],
    ),
  };
}

const DAY_MS = 86_400_000;
