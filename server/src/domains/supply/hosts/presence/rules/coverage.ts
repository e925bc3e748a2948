/**
 * A stretch of time in which a machine was in touch. Without an end it still is, proven up to the time at which it was
 * last heard.
 */
export type Span = { readonly fromAt: Date; readonly untilAt: Date | undefined };

/** A stretch of time. */
export type Interval = { readonly from: Date; readonly to: Date };

/** The parts of an interval in which the machine was in touch, in order; adjacent parts are joined. */
export function coveredParts(spans: readonly Span[], lastSeenAt: Date, { from, to }: Interval): readonly Interval[] {
  return joinIntervals(
    spans.map(({ fromAt, untilAt = lastSeenAt }) => ({
      from: fromAt > from ? fromAt : from,
      to: untilAt < to ? untilAt : to,
    })),
  );
}

/**
 * A machine that was away for no longer than the longest heartbeat lease may turn out to have been running all the
 * time.
 */
const LEASE_MS_MAX = 86_400_000;
/** More than the clocks of two servers may differ by. */
const SKEW_MS_MAX = 60_000;

/** The time up to which the result of `coveredParts` is final. A settlement goes on from here, however late it runs. */
export function certainUntil(spans: readonly Span[], lastSeenAt: Date, now: Date): Date {
  const last = spans.at(-1);
  const endedAt = last === undefined ? lastSeenAt : (last.untilAt ?? lastSeenAt);
  const isInTouch = last !== undefined && last.untilAt === undefined;
  const isLost = !isInTouch && now.getTime() - endedAt.getTime() > LEASE_MS_MAX;
  // The machine may reconnect at this very moment, to a server whose clock is behind.
  return isLost ? new Date(now.getTime() - SKEW_MS_MAX) : endedAt;
}

/** Union of these intervals, in order and without overlap. */
export function joinIntervals(intervals: readonly Interval[]): readonly Interval[] {
  const joined: Interval[] = [];
  const inOrder = intervals.filter(({ from, to }) => from < to).toSorted((a, b) => a.from.getTime() - b.from.getTime());
  for (const next of inOrder) {
    const last = joined.at(-1);
    if (last === undefined || last.to < next.from) joined.push(next);
    else if (last.to < next.to) joined[joined.length - 1] = { from: last.from, to: next.to };
  }
  return joined;
}

/** Total length of these intervals, which do not overlap. */
export function lengthMs(intervals: readonly Interval[]): number {
  return intervals.reduce((sum, { from, to }) => sum + to.getTime() - from.getTime(), 0);
}
