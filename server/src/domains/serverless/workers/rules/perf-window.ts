/** A report as far as it tells how much a worker serves. Units; milliseconds by our clock. */
export type Serving = {
  readonly atMs: number;
  readonly servedLoad: number;
  readonly currentLoad: number;
};

type Busy = { readonly endMs: number; readonly lastedMs: number; readonly servedLoad: number };

/** What was seen of a worker while it had more to do than it could. */
export type PerfWindow = {
  readonly last: Serving | undefined;
  /** Served according to reports that came too soon after `last`. */
  readonly carriedLoad: number;
  readonly busy: readonly Busy[];
};

export const NOTHING_SEEN: PerfWindow = { last: undefined, carriedLoad: 0, busy: [] };

/** Reports further apart than this say too little of what was in between. */
const GAP_MS_MAX = 30_000;
/** Reports arrive with some delay: closer ones would make much of it. */
const GAP_MS_MIN = 500;
const WINDOW_MS = 120_000;
/** So long, and over so many reports, a worker must have been seen to be busy before that says more than its benchmark. */
const BUSY_MS_MIN = 10_000;
const BUSY_COUNT_MIN = 3;

/**
 * Adds a report. Only time counts in which the worker certainly never ran out of work: it began with at least what it
 * served until the end, and with at least what it claims to serve in that time, so that a few requests at a time are not
 * taken for all that it can do.
 */
export function addServing(window: PerfWindow, serving: Serving, claimedPerf: number | undefined): PerfWindow {
  const { last } = window;
  const lastedMs = last === undefined ? Infinity : serving.atMs - last.atMs;
  const servedLoad = window.carriedLoad + serving.servedLoad;
  if (lastedMs < GAP_MS_MIN) return { ...window, carriedLoad: servedLoad };
  const busy = window.busy.filter(({ endMs }) => serving.atMs - endMs < WINDOW_MS);
  const enough = Math.max(servedLoad, ((claimedPerf ?? 0) * lastedMs) / 1000);
  const wasBusy = last !== undefined && lastedMs <= GAP_MS_MAX && enough > 0 && last.currentLoad >= enough;
  if (wasBusy) busy.push({ endMs: serving.atMs, lastedMs, servedLoad });
  return { last: serving, carriedLoad: 0, busy };
}

/** Units a second while it was busy; undefined until it was for long enough. */
export function observedPerfOf({ busy }: PerfWindow): number | undefined {
  const lastedMs = busy.reduce((sum, one) => sum + one.lastedMs, 0);
  // One long request shows nothing of what was done of it until it ends.
  const servingCount = busy.filter((one) => one.servedLoad > 0).length;
  if (lastedMs < BUSY_MS_MIN || servingCount < BUSY_COUNT_MIN) return undefined;
  return (busy.reduce((sum, one) => sum + one.servedLoad, 0) * 1000) / lastedMs;
}
