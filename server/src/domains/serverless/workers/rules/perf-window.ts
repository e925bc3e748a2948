/** The part of a report that shows how much a worker serves. Units; milliseconds by our clock. */
export type Serving = {
  readonly atMs: number;
  readonly servedLoad: number;
  readonly currentLoad: number;
};

type Busy = { readonly endMs: number; readonly lastedMs: number; readonly servedLoad: number };

/** Observations of a worker while it had more work than it could do. */
export type PerfWindow = {
  readonly last: Serving | undefined;
  /** Load served in reports that came too soon after `last`. */
  readonly carriedLoad: number;
  readonly busy: readonly Busy[];
};

export const NOTHING_SEEN: PerfWindow = { last: undefined, carriedLoad: 0, busy: [] };

/** Reports further apart than this say too little about the time between. */
const GAP_MS_MAX = 30_000;
/** Reports arrive with some delay, which would distort a shorter gap. */
const GAP_MS_MIN = 500;
const WINDOW_MS = 120_000;
/**
 * A worker must have been busy for this long, and over this many reports, before the measurement overrides its
 * benchmark.
 */
const BUSY_MS_MIN = 10_000;
const BUSY_COUNT_MIN = 3;

/**
 * Adds a report. Only time counts in which the worker certainly never ran out of work: it began with at least the
 * load that it served until the end, and with at least the load that it claims to serve in that time. So a few
 * requests at a time are not taken for all that it can do.
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

/** Units a second while it was busy; undefined until it was busy for long enough. */
export function observedPerfOf({ busy }: PerfWindow): number | undefined {
  const lastedMs = busy.reduce((sum, one) => sum + one.lastedMs, 0);
  // A long request counts only at its end, so it shows nothing while it runs.
  const servingCount = busy.filter((one) => one.servedLoad > 0).length;
  if (lastedMs < BUSY_MS_MIN || servingCount < BUSY_COUNT_MIN) return undefined;
  return (busy.reduce((sum, one) => sum + one.servedLoad, 0) * 1000) / lastedMs;
}
