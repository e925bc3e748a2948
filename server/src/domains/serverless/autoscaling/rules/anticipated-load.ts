import { busyLoad, doneInSecond } from "./backlog.ts";
import type { LoadSample } from "./types.ts";

const SECOND_MS = 1_000;
/** Seconds of traffic that are remembered. */
const MEMORY_S = 3_600;
/** Seconds over which the present rate is measured: shorter spans show single requests rather than a rate. */
const FRESH_S = 20;
/** Seconds of the longer rate; the present rate is rising if it is above this one. */
const TREND_S = 60;
/** Seconds of traffic that are replayed to see which capacity they would have needed. */
const REPLAY_S = 1_800;
/**
 * A request that waits longer, in seconds, is late; the share of late requests in the replay is half the aim, as
 * future traffic differs from past traffic.
 */
const LATE_S = 1;
const LATE_SHARE = 0.005;
/** The requests of the second at hand arrived in its middle on average. */
const HALF_SECOND_S = 0.5;
/** Serving a request in time may cost this many times its plain cost: for rare bursts it would cost far more. */
const WORTH = 15;
/**
 * Capacity at hand is kept at a slightly lower benefit than starting it would need, so that near ties change nothing.
 */
const MORE_TO_KEEP = 1.5;
/** Two costs this close, as a share, may differ by rounding alone, so that both are computed to the end. */
const ROUNDING = 1e-9;
/** The search for the needed capacity ends at this many times the mean load. */
const CAPACITY_PER_MEAN = 20;
/** Halvings in the search for the needed capacity, and the fractions of the found capacity that are compared by cost. */
const HALVINGS = 14;
const PARTS = 10;
/**
 * Idle capacity is released only if it exceeds the need of the past by this share, so that small changes release
 * nothing.
 */
const DEAD_ZONE = 0.05;
/** Seconds between the points at which the peak of the past is measured. */
const STEP_S = 5;
/** Used capacity is kept for this many start times: about the cost of releasing it and starting it again. */
const KEPT_STARTS = 3;

/** Expected loads, in units a second. */
export type Anticipation = {
  /** Load that arrives now. */
  readonly fresh: number;
  /** Load that is expected to arrive within the time that a start takes. */
  readonly rise: number;
  /** Existing capacity is kept up to this load; never below `rise`. */
  readonly keep: number;
  /** The highest load over a minute within the memory; `peakCount` is the highest number of requests. */
  readonly peak: number;
  readonly peakCount: number;
  readonly lastActiveMs: number | undefined;
};

/** Mean load over the `length` seconds that end with second `end`. */
type Rate = (end: number, length: number) => number;

/**
 * Anticipates load with a fast attack and a slow decay: the present load counts in full, with its rise extrapolated
 * until a worker that is started now is ready; the capacity that the last half hour would have needed is expected
 * again; and capacity that was needed just now is kept.
 */
export function anticipateLoad(
  samples: readonly LoadSample[],
  {
    nowMs,
    sinceMs,
    startMs,
    workerPerf,
  }: {
    readonly nowMs: number;
    readonly sinceMs: number;
    readonly startMs: number;
    /** Units a second that one worker serves; undefined until one was measured. */
    readonly workerPerf: number | undefined;
  },
): Anticipation {
  const last = Math.floor(nowMs / SECOND_MS);
  const count = Math.min(MEMORY_S, Math.max(1, last - Math.floor(sinceMs / SECOND_MS) + 1));
  const seconds = { last, count };
  const loads = rateOf(samples, seconds, ({ load }) => load);
  const requests = rateOf(samples, seconds, ({ requestCount }) => requestCount);
  const fresh = loads(count, FRESH_S);
  const rising = Math.max(0, fresh - loads(count, TREND_S)) * Math.min(1, startMs / SECOND_MS / TREND_S);
  const { needed, kept } = neededCapacity({ loads, requests, count }, workerPerf);
  const rise = Math.max(fresh + rising, needed);
  let keep = Math.max(rise, kept * (1 + DEAD_ZONE));
  const keptFrom = Math.max(0, count - Math.ceil((KEPT_STARTS * startMs) / SECOND_MS));
  for (let end = count; end > keptFrom; end -= 1) keep = Math.max(keep, loads(end, FRESH_S));
  let peak = keep;
  let peakRequests = 0;
  for (let end = count; end > 0; end -= STEP_S) {
    peak = Math.max(peak, loads(end, TREND_S));
    peakRequests = Math.max(peakRequests, requests(end, TREND_S));
  }
  return { fresh, rise, keep, peak, peakCount: Math.ceil(peakRequests * TREND_S), lastActiveMs: lastActivity(samples) };
}

/**
 * The least capacity with which hardly any request of the last half hour would have been late, found by a replay; or
 * less, where that capacity costs more than the late requests are worth. Sums by the second suffice for the replay:
 * the requests of a second are late when the work at hand after it exceeds what all workers are busy with plus what
 * is worked off within the time that is not late.
 */
function neededCapacity(
  { loads, requests, count }: { readonly loads: Rate; readonly requests: Rate; readonly count: number },
  workerPerf: number | undefined,
): { readonly needed: number; readonly kept: number } {
  const length = Math.min(count, REPLAY_S);
  const [load, came] = [new Float64Array(length), new Float64Array(length)];
  for (let index = 0; index < length; index += 1) {
    load[index] = loads(count - length + 1 + index, 1);
    came[index] = requests(count - length + 1 + index, 1);
  }
  const [mean, requestCount] = [loads(count, length), requests(count, length) * length];
  const serviceS = workerPerf === undefined ? 0 : (mean * length) / Math.max(1, requestCount) / workerPerf;
  const nextLoad = nextLoads(load);
  /** The share of late requests with this capacity; any share above `enough` when it is above that. */
  const lateShare = (capacity: number, enough: number): number => {
    const unhurried = capacity * (LATE_S - HALF_SECOND_S) + busyLoad(capacity, serviceS);
    const enoughCount = enough * Math.max(1, requestCount);
    let [atHand, lateCount] = [0, 0];
    for (let second = nextLoad[0] ?? length; second < length; second += 1) {
      // Idle seconds change no figure, so the replay goes on at the next arrival.
      if (atHand === 0) second = nextLoad[second] ?? length;
      atHand += load[second] ?? 0;
      atHand -= doneInSecond(atHand, capacity, serviceS);
      if (atHand <= unhurried) continue;
      lateCount += came[second] ?? 0;
      if (lateCount > enoughCount) break;
    }
    return lateCount / Math.max(1, requestCount);
  };
  let [low, high] = [0, CAPACITY_PER_MEAN * mean];
  for (let step = 0; step < HALVINGS; step += 1) {
    const middle = (low + high) / 2;
    if (lateShare(middle, LATE_SHARE) <= LATE_SHARE) high = middle;
    else low = middle;
  }
  let [needed, kept] = [
    { capacity: 0, cost: Infinity },
    { capacity: 0, cost: Infinity },
  ];
  for (let part = PARTS; part > 0; part -= 1) {
    const capacity = (high * part) / PARTS;
    // A capacity that is worse than the best one by either price of lateness needs no exact share.
    const worse = Math.max((needed.cost - capacity) / WORTH, (kept.cost - capacity) / (WORTH * MORE_TO_KEEP)) / mean;
    const lateLoad = mean * lateShare(capacity, worse * (1 + ROUNDING));
    const [cost, keptCost] = [capacity + WORTH * lateLoad, capacity + WORTH * MORE_TO_KEEP * lateLoad];
    if (cost < needed.cost) needed = { capacity, cost };
    if (keptCost < kept.cost) kept = { capacity, cost: keptCost };
  }
  return { needed: needed.capacity, kept: kept.capacity };
}

/** For each second the next one, itself included, in which load arrives; the length when none does any more. */
function nextLoads(load: Float64Array): Int32Array {
  const next = new Int32Array(load.length + 1);
  next[load.length] = load.length;
  for (let second = load.length - 1; second >= 0; second -= 1) {
    next[second] = load[second] === 0 ? (next[second + 1] ?? load.length) : second;
  }
  return next;
}

/** Mean rates of an amount, such as load, over spans of seconds between the first remembered one and the current one. */
function rateOf(
  samples: readonly LoadSample[],
  { last, count }: { readonly last: number; readonly count: number },
  amountOf: (sample: LoadSample) => number,
): Rate {
  const sums = new Float64Array(count + 1);
  for (let index = samples.length - 1; index >= 0; index -= 1) {
    const sample = samples[index];
    if (sample === undefined) continue;
    const second = Math.floor(sample.secondMs / SECOND_MS) - last + count;
    if (second < 1) break;
    if (second <= count) sums[second] = (sums[second] ?? 0) + amountOf(sample);
  }
  for (let second = 1; second <= count; second += 1) sums[second] = (sums[second] ?? 0) + (sums[second - 1] ?? 0);
  // A span that reaches back before the first remembered second is averaged over its full length: one request makes
  // no rate.
  return (end, length) => ((sums[end] ?? 0) - (sums[Math.max(0, end - length)] ?? 0)) / length;
}

function lastActivity(samples: readonly LoadSample[]): number | undefined {
  return samples.findLast(({ requestCount }) => requestCount > 0)?.secondMs;
}
