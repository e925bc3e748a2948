/** How a machine's reliability is computed; docs/reliability.md says it in words and recomputes an example. */
export const RELIABILITY_FORMULA = "hours-online-of-30-days";
export const WINDOW_DAYS = 30;

const HOUR_MS = 3_600_000n;
const WINDOW_MS = BigInt(WINDOW_DAYS) * 24n * HOUR_MS;
/** What a machine is believed before it has shown anything: a day at six tenths. */
const PRIOR_MS = 24n * HOUR_MS;
const PRIOR_TENTHS = 6n;
/** An hour offline counts once, and three times more for the share of the machine that renters were paying for. */
const RENTED_EXTRA = 3n;
const FAILED_START_MS = 2n * HOUR_MS;
const MAINTENANCE_FREE_MS = 24n * HOUR_MS;
const DAY_MS = 86_400_000;
const PPM_PER_STEP = 100n;

/** What is known of a machine over the window. */
export type ReliabilityFacts = {
  readonly onlineMs: bigint;
  readonly offlineMs: bigint;
  /** Of the time offline, in proportion to the share of the devices that renters held. */
  readonly offlineRentedMs: bigint;
  readonly maintenanceMs: bigint;
  readonly failedStarts: bigint;
};

/** Each part of the quotient, in milliseconds. */
export type ReliabilityTerms = {
  readonly priorMs: bigint;
  readonly onlineMs: bigint;
  /** Maintenance beyond what is free included. */
  readonly offlineMs: bigint;
  readonly offlineRentedExtraMs: bigint;
  readonly failedStartsMs: bigint;
  /** In millionths, cut off after four decimals: 0.9231 is 923,100. */
  readonly reliabilityPpm: number;
};

/**
 * The part of the time that a machine was there, of the time that it was to be there. What it is believed at first fades
 * in the measure in which the window fills with hours of its own. Starts that succeed add nothing: a host could buy them
 * by renting from itself.
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
