/** The first instant of the month (UTC) of a moment. */
export function monthStart(at: Date): Date {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1));
}

/** The first instant of the month (UTC) after that of a moment. */
export function monthAfter(at: Date): Date {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1));
}

/** The documents of a month are issued within this time after it. */
const ISSUED_WITHIN_MS = 3 * 86_400_000;

/**
 * The first instants of the months in which an audit looks for missing documents, the oldest first: months that are done, of
 * those the ones whose documents were issued since the last seal, and always the newest. All of them without `since`.
 */
export function monthsToAudit({
  since,
  doneUntil,
  firstAt,
}: {
  readonly since: Date | undefined;
  /** The first month that is not done; undefined when none is. */
  readonly doneUntil: Date | undefined;
  /** When money first moved. */
  readonly firstAt: Date | undefined;
}): readonly Date[] {
  if (doneUntil === undefined || firstAt === undefined) return [];
  const newest = monthStart(new Date(doneUntil.getTime() - 1));
  const first = monthStart(firstAt);
  const sealed = since === undefined ? first : monthStart(new Date(since.getTime() - ISSUED_WITHIN_MS));
  const months: Date[] = [];
  for (let from = later(first, earlier(sealed, newest)); from < doneUntil; from = monthAfter(from)) months.push(from);
  return months;
}

function later(one: Date, other: Date): Date {
  return one > other ? one : other;
}

function earlier(one: Date, other: Date): Date {
  return one < other ? one : other;
}
