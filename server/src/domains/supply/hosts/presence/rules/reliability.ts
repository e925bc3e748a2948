/** The formula of a machine's reliability; docs/reliability.md describes it and recomputes an example. */
export const RELIABILITY_FORMULA = "hours-online-of-30-days";
export const WINDOW_DAYS = 30;

const HOUR_MS = 3_600_000n;
const WINDOW_MS = BigInt(WINDOW_DAYS) * 24n * HOUR_MS;
/** Initial credit of a machine without history: one day, of which six tenths count as online. */
const PRIOR_MS = 24n * HOUR_MS;
const PRIOR_TENTHS = 6n;
/** An hour offline counts once, and three times more for the share of the machine that renters were paying for. */
const RENTED_EXTRA = 3n;
const FAILED_START_MS = 2n * HOUR_MS;
const MAINTENANCE_FREE_MS = 24n * HOUR_MS;
const DAY_MS = 86_400_000;
const PPM_PER_STEP = 100n;

/** Facts about a machine within the window. */
export type ReliabilityFacts = {
  readonly onlineMs: bigint;
  readonly offlineMs: bigint;
  /** Time offline, multiplied by the share of the devices that renters held. */
  readonly offlineRentedMs: bigint;
  readonly maintenanceMs: bigint;
  readonly failedStarts: bigint;
};

/** Each part of the quotient, in milliseconds. */
export type ReliabilityTerms = {
  readonly priorMs: bigint;
  readonly onlineMs: bigint;
  /** Includes maintenance beyond the free allowance. */
  readonly offlineMs: bigint;
  readonly offlineRentedExtraMs: bigint;
  readonly failedStartsMs: bigint;
  /** In millionths, cut off after four decimals: 0.9231 is 923,100. */
  readonly reliabilityPpm: number;
};

/**
 * Time online divided by time expected online. The initial credit fades as the window fills with the machine's own
 * hours. Successful starts add nothing: a host could buy them by renting from itself.
 */
export function computeReliability(facts: ReliabilityFacts): ReliabilityTerms {
  const excess = max(0n, facts.maintenanceMs - MAINTENANCE_FREE_MS);
  const { onlineMs } = facts;
  const offlineMs = facts.offlineMs + excess;
  const unknownMs = max(0n, WINDOW_MS - onlineMs - offlineMs);
  const priorMs = (PRIOR_MS * unknownMs) / WINDOW_MS;
  const offlineRentedExtraMs = RENTED_EXTRA * facts.offlineRentedMs;
  const failedStartsMs = FAILED_START_MS * facts.failedStarts;
  const good = PRIOR_TENTHS * priorMs + 10n * onlineMs;
  const whole = 10n * (priorMs + onlineMs + offlineMs + offlineRentedExtraMs + failedStartsMs);
  const reliabilityPpm = Number(((good * 10_000n) / whole) * PPM_PER_STEP);
  return { priorMs, onlineMs, offlineMs, offlineRentedExtraMs, failedStartsMs, reliabilityPpm };
}

/** The day of an instant: whole days since 1970-01-01, UTC. */
export function dayOf(at: Date): number {
  return Math.floor(at.getTime() / DAY_MS);
}

export function startOfDay(day: number): Date {
  return new Date(day * DAY_MS);
}

/** The first day of the window that ends now: today counts. */
export function firstDayOf(now: Date): number {
  return dayOf(now) - WINDOW_DAYS + 1;
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
