import type { UserId } from "../../../../../base/ids.ts";

const HOUR_MS = 3_600_000;
/** Consecutive failed starts after which a machine rests. */
const FAILURES_TO_REST = 3;
/** Failures of one renter count at most this often: nobody puts a machine to rest alone in an afternoon. */
export const RENTER_COUNTS_EVERY_MS = HOUR_MS;
const FIRST_REST_MS = 600_000;
const REST_MS_MAX = 24 * HOUR_MS;

/** State of a machine's breaker after its last starts. */
export type Breaker = {
  /** Start of the present streak of failures; undefined when the last start succeeded. */
  readonly failingSince: Date | undefined;
  readonly restsUntil: Date | undefined;
  /** Rests since the last successful start. */
  readonly restCount: number;
};

export type Failure = { readonly renterId: UserId; readonly at: Date; readonly isCounted: boolean };

/**
 * The breaker after one more failed start. A machine rests after three consecutive failures: of two renters or more, or
 * of one when they are spread over hours. After a rest it is on trial, and one more failure that counts puts it to rest
 * again.
 */
export function noteFailure(
  breaker: Breaker,
  /** Failures of the last hour and those since `failingSince`. */
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

/** Length of a rest: ten minutes, doubled with each rest, up to a day. */
export function restMs(restCount: number): number {
  return Math.min(REST_MS_MAX, FIRST_REST_MS * 2 ** restCount);
}
