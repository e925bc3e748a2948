// Times of a scheduled job. All are UTC, in which every hour, day and week is equally long.

export const FREQUENCIES = ["ONCE", "HOURLY", "DAILY", "WEEKLY"] as const;
export type Frequency = (typeof FREQUENCIES)[number];

export type Timetable = {
  readonly frequency: Frequency;
  /** 0 is Sunday; undefined for every day. */
  readonly dayOfTheWeek: number | undefined;
  /** An hour from 0 to 23; undefined for every hour. */
  readonly hourOfTheDay: number | undefined;
  readonly minOfTheHour: number;
  /** The one occurrence of a job that runs once. */
  readonly startMs: number;
  /** The last moment at which an occurrence may be. */
  readonly endMs: number;
};

/** Occurrences without a run, one after another. */
export type Missed = { readonly firstMs: number; readonly lastMs: number; readonly count: number };

export type Due = {
  readonly missed: Missed | undefined;
  /** The occurrence to run now. */
  readonly runMs: number | undefined;
  /** The next occurrence that is not due yet; undefined when the timetable is over. */
  readonly nextMs: number | undefined;
};

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;
/** The weekday of 1 January 1970, a Thursday. */
const FIRST_WEEKDAY = 4;

/**
 * An occurrence that is later than this is missed: a restart of the server is over by then, and a reboot that was planned
 * for the night does not happen at noon. No period is shorter, so that at most one occurrence can run at a time.
 */
export const LATE_MAX_MS = HOUR_MS;

const PERIODS_MS: Readonly<Record<Exclude<Frequency, "ONCE">, number>> = {
  HOURLY: HOUR_MS,
  DAILY: DAY_MS,
  WEEKLY: WEEK_MS,
};

/** The first occurrence at or after a moment; undefined when there is none before the end. */
export function nextAt(timetable: Timetable, fromMs: number): number | undefined {
  const { frequency, startMs, endMs } = timetable;
  if (frequency === "ONCE") return fromMs <= startMs ? startMs : undefined;
  const periodMs = PERIODS_MS[frequency];
  const phaseMs = phaseOf(timetable);
  const at = phaseMs + Math.ceil((Math.max(fromMs, startMs) - phaseMs) / periodMs) * periodMs;
  return at <= endMs ? at : undefined;
}

/**
 * Decides about everything from `dueMs`, the first occurrence that was not decided yet, up to now: at most one occurrence
 * runs, all earlier ones are missed.
 */
export function decideDue(timetable: Timetable, dueMs: number, nowMs: number): Due {
  if (dueMs > nowMs) return { missed: undefined, runMs: undefined, nextMs: dueMs };
  const newestMs = nextAt(timetable, Math.max(dueMs, nowMs - LATE_MAX_MS + 1));
  const runMs = newestMs !== undefined && newestMs <= nowMs ? newestMs : undefined;
  return {
    missed: missedBetween(timetable, dueMs, runMs ?? nowMs + 1),
    runMs,
    nextMs: nextAt(timetable, nowMs + 1),
  };
}

/** The occurrences from `firstMs`, which is one, up to but without `untilMs`. */
function missedBetween({ frequency, endMs }: Timetable, firstMs: number, untilMs: number): Missed | undefined {
  const lastPossibleMs = Math.min(untilMs - 1, endMs);
  if (firstMs > lastPossibleMs) return undefined;
  if (frequency === "ONCE") return { firstMs, lastMs: firstMs, count: 1 };
  const periodMs = PERIODS_MS[frequency];
  const more = Math.floor((lastPossibleMs - firstMs) / periodMs);
  return { firstMs, lastMs: firstMs + more * periodMs, count: more + 1 };
}

/** The first occurrence after 1 January 1970 began. */
function phaseOf({ frequency, dayOfTheWeek = 0, hourOfTheDay = 0, minOfTheHour }: Timetable): number {
  const inHourMs = minOfTheHour * MINUTE_MS;
  if (frequency === "HOURLY") return inHourMs;
  const inDayMs = hourOfTheDay * HOUR_MS + inHourMs;
  if (frequency === "DAILY") return inDayMs;
  return ((dayOfTheWeek - FIRST_WEEKDAY + 7) % 7) * DAY_MS + inDayMs;
}
