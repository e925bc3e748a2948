/** The ways in which spending can be split. */
export const SPLITS = ["instance", "label", "endpoint", "person", "key", "kind"] as const;
export type Split = (typeof SPLITS)[number];

/** Dollars of one contract on one day (UTC), in nano-dollars. */
export type DayAmount = { readonly day: number; readonly part: Part; readonly amount: bigint };

/** The part of the spending that an amount belongs to. */
export type Part = { readonly id: string; readonly name: string };

export type Series = Part & { readonly total: bigint; readonly amounts: readonly bigint[] };

const OTHERS: Part = { id: "others", name: "Others" };

/**
 * Adds up amounts by part and day. The parts with the largest totals stay, in that order; all others are one part, the
 * last, so that the series always add up to everything.
 */
export function splitByDay(
  amounts: readonly DayAmount[],
  { firstDay, dayCount, most }: { readonly firstDay: number; readonly dayCount: number; readonly most: number },
): readonly Series[] {
  const known = amounts.filter(({ day }) => day >= firstDay && day < firstDay + dayCount);
  const parts = [...Map.groupBy(known, ({ part }) => part.id).values()].map((own) =>
    seriesOf(own[0]?.part ?? OTHERS, own, { firstDay, dayCount }),
  );
  const sorted = parts.toSorted((a, b) => compare(b.total, a.total) || (a.id < b.id ? -1 : 1));
  if (sorted.length <= most) return sorted;
  const kept = sorted.slice(0, most - 1);
  const ids = new Set(kept.map(({ id }) => id));
  const rest = known.filter(({ part }) => !ids.has(part.id));
  return [...kept, seriesOf(OTHERS, rest, { firstDay, dayCount })];
}

function seriesOf(
  { id, name }: Part,
  own: readonly DayAmount[],
  { firstDay, dayCount }: { readonly firstDay: number; readonly dayCount: number },
): Series {
  const amounts = Array.from({ length: dayCount }, () => 0n);
  for (const { day, amount } of own) amounts[day - firstDay] = (amounts[day - firstDay] ?? 0n) + amount;
  return { id, name, total: amounts.reduce((total, one) => total + one, 0n), amounts };
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : Number(a > b);
}

export type Forecast = {
  readonly monthNanos: bigint;
  readonly monthEnd: Date;
  /** The moment at which the balance is used up; undefined when it never is. */
  readonly dryAt: Date | undefined;
};

const MS_PER_HOUR = 3_600_000n;
/** Longest outlook: about a century. */
const HOURS_MAX = 1_000_000n;

/** Spending until the end of the month (UTC), and the moment at which the balance is used up, if all goes on as now. */
export function forecastMonth(
  now: Date,
  { spent, nanosPerHour, balance }: { readonly spent: bigint; readonly nanosPerHour: bigint; readonly balance: bigint },
): Forecast {
  const monthEnd = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
  const leftMs = BigInt(monthEnd.getTime() - now.getTime());
  const monthNanos = spent + (nanosPerHour * leftMs) / MS_PER_HOUR;
  if (nanosPerHour <= 0n || balance > nanosPerHour * HOURS_MAX) return { monthNanos, monthEnd, dryAt: undefined };
  const lastsMs = balance > 0n ? (balance * MS_PER_HOUR) / nanosPerHour : 0n;
  return { monthNanos, monthEnd, dryAt: new Date(now.getTime() + Number(lastsMs)) };
}
