import type { UserId } from "../../../../../base/ids.ts";

const HOUR_MS = 3_600_000;
/** So many starts in a row have to fail before a machine rests. */
const FAILURES_TO_REST = 3;
/** Of one renter, a failure counts this often: nobody brings a machine down alone in an afternoon. */
export const RENTER_COUNTS_EVERY_MS = HOUR_MS;
const FIRST_REST_MS = 600_000;
const REST_MS_MAX = 24 * HOUR_MS;

/** What a machine's last starts have led to. */
export type Breaker = {
  /** Since when its starts have failed, one after the other; undefined when the last one succeeded. */
  readonly failingSince: Date | undefined;
  readonly restsUntil: Date | undefined;
  /** How often it has rested since a start succeeded. */
  readonly restCount: number;
};

export type Failure = { readonly renterId: UserId; readonly at: Date; readonly isCounted: boolean };

/**
 * What one more failed start does. It rests when three in a row failed: of two renters or more, or of any when they are
 * spread over hours. After a rest it is on trial, and one more failure that counts is enough.
 */
export function noteFailure(
  breaker: Breaker,
  /** Those of the last hour, and those since `failingSince`. */
  earlier: readonly Failure[],
  { renterId, at }: Pick<Failure, "renterId" | "at">,
): { readonly breaker: Breaker; readonly failure: Failure } {
  const isCounted = !earlier.some(
    (one) => one.isCounted && one.renterId === renterId && at.getTime() - one.at.getTime() < RENTER_COUNTS_EVERY_MS,
  );
  const failure = { renterId, at, isCounted };
  const failingSince = breaker.failingSince ?? at;
  const streak = [...earlier.filter((one) => one.at >= failingSince), failure];
  const isResting = breaker.restsUntil !== undefined && breaker.restsUntil > at;
  const isEnough = breaker.restCount > 0 ? isCounted : isConvincing(streak);
  if (isResting || !isEnough) return { breaker: { ...breaker, failingSince }, failure };
  const restsUntil = new Date(at.getTime() + restMs(breaker.restCount));
  return { breaker: { failingSince, restsUntil, restCount: breaker.restCount + 1 }, failure };
}

function isConvincing(streak: readonly Failure[]): boolean {
  if (streak.length < FAILURES_TO_REST) return false;
  const renterCount = new Set(streak.map((failure) => failure.renterId)).size;
  return renterCount > 1 || streak.filter((failure) => failure.isCounted).length >= FAILURES_TO_REST;
}

/** Ten minutes, and twice as long each time, up to a day. */
export function restMs(restCount: number): number {
  return Math.min(REST_MS_MAX, FIRST_REST_MS * 2 ** restCount);
}
