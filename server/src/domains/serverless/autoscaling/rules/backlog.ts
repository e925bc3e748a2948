import type { LoadSample } from "./types.ts";

const SECOND_MS = 1_000;
/** Seconds of the replay; requests from before are done. */
const REPLAY_S = 300;
/** The requests of the second at hand arrived in its middle on average. */
const HALF_SECOND_S = 0.5;
/** Fully busy workers have about one request each at hand, and a little more as sizes differ. */
const AT_HAND = 1.1;
/**
 * Seconds within which the backlog is to be worked off once further workers are ready: a request that waits longer is
 * very late.
 */
const CATCH_UP_S = 4;

/**
 * Load at hand while all workers are busy and no request waits; `serviceS` is how long a worker takes for a request.
 */
export function busyLoad(capacity: number, serviceS: number): number {
  return capacity * AT_HAND * serviceS;
}

/** Load that is done in a second: few requests keep few workers busy, each for as long as its request takes. */
export function doneInSecond(atHand: number, capacity: number, serviceS: number): number {
  const most = serviceS > 1 ? atHand / serviceS : atHand;
  return most < capacity ? most : capacity;
}

/**
 * The capacity that makes up for the backlog of the workers, in units a second; 0 while they keep pace. They fall
 * behind when more load is at hand than keeps all of them busy, and still will be when a worker that is started now
 * is ready. The load at hand is replayed from the arrivals, as a worker that does many requests at a time has much at
 * hand without being late, and it never exceeds the load that the workers and the queue really have.
 */
export function catchUpCapacity(
  samples: readonly LoadSample[],
  {
    nowMs,
    startMs,
    arriving,
    capacity,
    workerPerf,
    loadAtHand,
  }: {
    readonly nowMs: number;
    readonly startMs: number;
    /** Load that arrives each second now. */
    readonly arriving: number;
    readonly capacity: number;
    /** Units a second that one worker serves; undefined until one was measured. */
    readonly workerPerf: number | undefined;
    /** Load of requests that are held, or were given to a worker that counts in `capacity`, and are not done. */
    readonly loadAtHand: number;
  },
): number {
  if (workerPerf === undefined || capacity <= 0) return 0;
  const { loads, serviceS } = recentLoads(samples, nowMs, workerPerf);
  let replayed = 0;
  loads.forEach((load, second) => {
    replayed += load;
    const part = second === REPLAY_S ? HALF_SECOND_S : 1;
    replayed -= doneInSecond(replayed, capacity * part, serviceS);
  });
  const atHand = Math.min(replayed, loadAtHand);
  const whenReady = atHand + ((arriving - capacity) * startMs) / SECOND_MS;
  const unhurried = busyLoad(capacity, serviceS);
  if (Math.min(atHand, whenReady) <= unhurried) return 0;
  return Math.max(arriving, capacity) + (whenReady - unhurried) / CATCH_UP_S;
}

/** Load of each second, up to the current one, and how long a worker takes for a request of the mean size. */
function recentLoads(
  samples: readonly LoadSample[],
  nowMs: number,
  workerPerf: number,
): { readonly loads: Float64Array; readonly serviceS: number } {
  const last = Math.floor(nowMs / SECOND_MS);
  const loads = new Float64Array(REPLAY_S + 1);
  let [total, count] = [0, 0];
  for (let index = samples.length - 1; index >= 0; index -= 1) {
    const sample = samples[index];
    const ago = last - Math.floor((sample?.secondMs ?? -Infinity) / SECOND_MS);
    if (sample === undefined || ago > REPLAY_S) break;
    if (ago < 0) continue;
    loads[REPLAY_S - ago] = (loads[REPLAY_S - ago] ?? 0) + sample.load;
    total += sample.load;
    count += sample.requestCount;
  }
  return { loads, serviceS: total / Math.max(1, count) / workerPerf };
}
