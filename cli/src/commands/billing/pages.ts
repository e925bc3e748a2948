/** The part of an answer that is a page of a list. */
type Page<Row> = { readonly results: readonly Row[]; readonly next_token: string | null };

/** Pages of one list that a command fetches at most; an export is better for longer lists. */
const PAGES_MAX = 200;

/** All pages as one answer: the first, with the rows of all of them. */
export async function allPages<Row, Answer extends Page<Row>>(
  fetchPage: (page: { readonly after_token?: string }) => Promise<Answer>,
): Promise<Answer> {
  const first = await fetchPage({});
  const results = [...first.results];
  let token = first.next_token;
  for (let page = 1; token !== null && page < PAGES_MAX; page += 1) {
    const next: Answer = await fetchPage({ after_token: token });
    results.push(...next.results);
    token = next.next_token;
  }
  return { ...first, results, count: results.length, next_token: token };
}

export type DayOptions = { readonly from?: number; readonly to?: number };

const SECONDS_PER_DAY = 86_400;

/** The range of days in seconds since 1970: up to today, and `dayCount` days, unless the options say otherwise. */
export function daysOf(
  { from, to }: DayOptions,
  { now, defaultDays }: { readonly now: Date; readonly defaultDays: number },
): { readonly gte: number; readonly lte: number } {
  const last = to ?? Math.floor(now.getTime() / 1000);
  return { gte: from ?? last - (defaultDays - 1) * SECONDS_PER_DAY, lte: last };
}

/** The end of the day (UTC) of a moment. */
export function endOfDay(unixSeconds: number): number {
  return (Math.floor(unixSeconds / SECONDS_PER_DAY) + 1) * SECONDS_PER_DAY - 0.001;
}
