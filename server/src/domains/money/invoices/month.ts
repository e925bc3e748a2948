/** The first instant of the UTC month of a moment. */
export function monthStart(at: Date): Date {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1));
}

/** The first instant of the next UTC month. */
export function monthAfter(at: Date): Date {
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1));
}

/** Time after a month within which its documents are issued. */
const ISSUED_WITHIN_MS = 3 * 86_400_000;

/**
 * The first instants of the months in which an audit looks for missing documents, oldest first: finished months whose
 * documents were issued since the last checkpoint, and always the newest finished one. All finished months without
 * `since`.
 */
export function monthsToAudit({
  since,
  doneUntil,
  firstAt,
}: {
  readonly since: Date | undefined;
  /** The first unfinished month; undefined when no month was started. */
  readonly doneUntil: Date | undefined;
  /** The time of the first movement of money. */
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
