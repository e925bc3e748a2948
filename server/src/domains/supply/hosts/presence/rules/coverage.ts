/** When a machine was in touch; without an end it still is, and is proven to have been up to when it was last heard. */
export type Span = { readonly fromAt: Date; readonly untilAt: Date | undefined };

/** A stretch of time. */
export type Interval = { readonly from: Date; readonly to: Date };

/** The parts of a stretch of time in which somebody was in touch, in order; parts that meet are one. */
export function coveredParts(spans: readonly Span[], lastSeenAt: Date, { from, to }: Interval): readonly Interval[] {
  return joinIntervals(
    spans.map(({ fromAt, untilAt = lastSeenAt }) => ({
      from: fromAt > from ? fromAt : from,
      to: untilAt < to ? untilAt : to,
    })),
  );
}

/** A machine that was away for no longer than the longest lease may turn out to have been there all the time. */
const LEASE_MS_MAX = 86_400_000;
/** More than the clocks of two servers may differ by. */
const SKEW_MS_MAX = 60_000;

/**
 * Up to when it is settled whether somebody was in touch: what `coveredParts` says of the time before does not change any
 * more. Who settles by it goes on from here, however late that is.
 */
export function certainUntil(spans: readonly Span[], lastSeenAt: Date, now: Date): Date {
  const last = spans.at(-1);
  const endedAt = last === undefined ? lastSeenAt : (last.untilAt ?? lastSeenAt);
  const isInTouch = last !== undefined && last.untilAt === undefined;
  const isLost = !isInTouch && now.getTime() - endedAt.getTime() > LEASE_MS_MAX;
  // It may come back at this very moment, to a server whose clock is behind.
  return isLost ? new Date(now.getTime() - SKEW_MS_MAX) : endedAt;
}

/** What is in any of these, in order and without overlap. */
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

/** How much time these take together; they do not overlap. */
export function lengthMs(intervals: readonly Interval[]): number {
  return intervals.reduce((sum, { from, to }) => sum + to.getTime() - from.getTime(), 0);
}
