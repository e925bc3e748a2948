import { busyLoad, doneInSecond } from "./backlog.ts";
import type { LoadSample } from "./types.ts";

const SECOND_MS = 1_000;
/** How far back traffic is remembered. */
const MEMORY_S = 3_600;
/** What arrives now is measured over this long: shorter stretches say more about single requests than about a rate. */
const FRESH_S = 20;
/** Compared with a rate over this long, it is seen to rise. */
const TREND_S = 60;
/** Traffic of so long is replayed to see what it would have needed. */
const REPLAY_S = 1_800;
/** Who waits for longer is late; of what is replayed so few may be. Half the aim: what comes is not quite what came. */
const LATE_S = 1;
const LATE_SHARE = 0.005;
/** What comes in a second comes in its middle on average, when half of it is still to pass. */
const HALF_SECOND_S = 0.5;
/** That a request is not late may cost so many times what serving it does: for rare bursts it would cost far more. */
const WORTH = 15;
/** What is there is kept for a little more than it would be started for, so that a choice between equals moves nobody. */
const MORE_TO_KEEP = 1.5;
/** More than so many times the mean is never looked at. */
const CAPACITY_PER_MEAN = 20;
/** The search halves what is in question so often, and then looks at so many parts of what it found. */
const HALVINGS = 14;
const PARTS = 10;
/** Idle capacity is released only below what the past needed by this much, so that its small changes move nobody. */
const DEAD_ZONE = 0.05;
/** Steps at which the past is looked at for its peak. */
const STEP_S = 5;
/** Capacity that was in use is kept for so many start times: about what letting go and starting again would cost. */
const KEPT_STARTS = 3;

/** Loads in units a second. */
export type Anticipation = {
  /** What arrives now. */
  readonly fresh: number;
  /** What is expected to arrive within the time that a start takes. */
  readonly rise: number;
  /** Up to this, capacity that is there is kept; never below `rise`. */
  readonly keep: number;
  /** The highest rate over a minute within the memory, and the most requests. */
  readonly peak: number;
  readonly peakCount: number;
  readonly lastActiveMs: number | undefined;
};

/** A mean over so many seconds that end with this one. */
type Rate = (end: number, length: number) => number;

/**
 * Attacks at once and decays slowly: what arrives now counts in full, with its rise carried on until a worker that is
 * started now is ready; what the last half hour would have needed is expected again; and what was needed just now is kept.
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
    /** What one worker serves; undefined as long as none was measured. */
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
 * The least capacity with which hardly anybody of the last half hour would have been late, found by replaying it; or less,
 * where that costs more than those who are late then are worth. Sums by the second suffice for a replay: a second's
 * requests are late when more is at hand after it than what all workers are busy with and what is worked off within the
 * time that is not late.
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
  const lateShare = (capacity: number): number => {
    const unhurried = capacity * (LATE_S - HALF_SECOND_S) + busyLoad(capacity, serviceS);
    let [atHand, lateCount] = [0, 0];
    for (let second = 0; second < length; second += 1) {
      atHand += load[second] ?? 0;
      atHand -= doneInSecond(atHand, capacity, serviceS);
      if (atHand > unhurried) lateCount += came[second] ?? 0;
    }
    return lateCount / Math.max(1, requestCount);
  };
  let [low, high] = [0, CAPACITY_PER_MEAN * mean];
  for (let step = 0; step < HALVINGS; step += 1) {
    const middle = (low + high) / 2;
    if (lateShare(middle) <= LATE_SHARE) high = middle;
    else low = middle;
  }
  const candidates = Array.from({ length: PARTS }, (_, part) => {
    const capacity = (high * (PARTS - part)) / PARTS;
    return { capacity, lateLoad: mean * lateShare(capacity) };
  });
  const cheapest = (worth: number): number => {
    const costs = candidates.map(({ capacity, lateLoad }) => capacity + worth * lateLoad);
    return candidates[costs.indexOf(Math.min(...costs))]?.capacity ?? 0;
  };
  return { needed: cheapest(WORTH), kept: cheapest(WORTH * MORE_TO_KEEP) };
}

/** What came each second, summed up from the first that is remembered to the one that runs, read as means. */
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
  // What is remembered for a shorter time than is asked for is taken to have begun then: one request makes no rate.
  return (end, length) => ((sums[end] ?? 0) - (sums[Math.max(0, end - length)] ?? 0)) / length;
}

function lastActivity(samples: readonly LoadSample[]): number | undefined {
  return samples.findLast(({ requestCount }) => requestCount > 0)?.secondMs;
}
