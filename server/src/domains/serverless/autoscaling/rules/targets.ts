import { anticipateLoad, type Anticipation } from "./anticipated-load.ts";
import { catchUpCapacity } from "./backlog.ts";
import { type Fleet, isIdle, sumPerf } from "./fleet.ts";
import { median } from "./worker-perf.ts";
import type { LoadSample, Situation, Targets, WorkerView } from "./types.ts";

/** Requests that wait longer than this for a worker call for more of them. */
const TARGET_QUEUE_TIME_S = 10;
/** Once a request waited longer than the target, the queue is to be worked off this many times as fast. */
const HASTE = 2;
/** The least additional share of capacity while any request is held. */
const PRESSURE = 0.05;
/**
 * Without a timeout of its own, an endpoint without requests for this long expects none, whichever traffic came
 * before.
 */
const QUIET_S = 300;
/** The assumed duration of a start until one was measured. */
const UNKNOWN_START_MS = 60_000;
const START_MS_MAX = 600_000;
const SECOND_MS = 1_000;

/** Wanted and existing capacity, in units a second and in workers. */
export type Plan = {
  readonly anticipation: Anticipation;
  /** Below `hotTarget` workers are started; above `hotKeep` idle ones are released. */
  readonly hotTarget: number;
  readonly hotKeep: number;
  readonly hotPerf: number;
  /**
   * Stopped workers are started up to this target, but none is rented, as it would come too late. Never below
   * `hotTarget`.
   */
  readonly startTarget: number;
  /** The least number of hot workers, at any performance. */
  readonly hotCountMin: number;
  readonly totalTarget: number;
  readonly totalKeep: number;
  readonly totalPerf: number;
  readonly totalCountMin: number;
  /** The expected time until the next worker is ready. */
  readonly startMs: number;
  /** Requests wait, or would wait too long at any worker. */
  readonly isPressed: boolean;
  /** The performance that a worker without any measure is counted with. */
  readonly enough: number;
};

export function planTargets(situation: Situation, fleet: Fleet): Plan {
  const { parameters, samples, nowMs, createdAtMs } = situation;
  const startMs = expectedStartMs(situation);
  const firstSampleMs = samples[0]?.secondMs ?? nowMs;
  const sinceMs = Math.min(createdAtMs, firstSampleMs);
  const workerPerf = median(situation.workers.flatMap((worker) => fleet.perfs.ofWorker(worker) ?? []));
  const times = { nowMs, sinceMs, startMs, workerPerf };
  const whole = anticipateLoad(samples, times);
  // The sample of a request that waits now may not be stored yet, so that no gap shows the quiet spell before it.
  const recent = isUnused(situation, whole, situation.queue.oldestMs)
    ? []
    : sinceQuiet(samples, quietLimitMs(situation));
  // Stopped workers are kept for traffic before the quiet spell, but none is started for it.
  const expected = recent === samples ? whole : { ...anticipateLoad(recent, times), peak: whole.peak };
  const anticipation = isQuiet(situation, expected) ? { ...expected, fresh: 0, rise: 0, keep: 0 } : expected;
  const usable = usablePerf(situation, fleet, anticipation);
  const hot = (load: number) => Math.max(Math.min(load / parameters.targetUtil, usable), parameters.minLoad);
  const wanted = hot(anticipation.rise);
  const hotCountMin =
    wanted > 0 || situation.queue.requestCount > 0 || mustStayWarm(situation, fleet, anticipation) ? 1 : 0;
  const active = Math.max(Math.min(anticipation.rise, usable), parameters.minLoad);
  const total = Math.max(parameters.coldMult * active, parameters.minColdLoad);
  const enough = Math.max(wanted, total, 1);
  const servingPerf = sumPerf(fleet, fleet.serving, enough);
  const pressed = pressedTarget(situation, servingPerf);
  const hotTarget = Math.max(wanted, pressed);
  const catchUp = catchUpTarget(situation, fleet, { ...times, arriving: anticipation.fresh, capacity: servingPerf });
  const startTarget = Math.max(hotTarget, Math.min(catchUp, usable));
  const { coldMult, minColdLoad, coldWorkers, maxWorkers } = parameters;
  return {
    anticipation,
    hotTarget,
    startTarget,
    hotKeep: Math.max(startTarget, hot(anticipation.keep)),
    hotPerf: servingPerf + sumPerf(fleet, fleet.coming, enough),
    hotCountMin,
    totalTarget: total,
    totalKeep: Math.max(total, coldMult * Math.max(anticipation.peak, parameters.minLoad), minColdLoad, hotTarget),
    totalPerf: sumPerf(fleet, fleet.staying, enough),
    totalCountMin: Math.min(maxWorkers, Math.max(coldWorkers, hotCountMin)),
    startMs,
    isPressed: pressed > 0,
    enough,
  };
}

/** A request is done by one worker: more workers than requests in a busy minute would never all have work. */
function usablePerf({ workers, queue }: Situation, fleet: Fleet, { peakCount }: Anticipation): number {
  const perfs = workers.map((worker) => fleet.perfs.ofWorker(worker) ?? Infinity);
  const underway = workers.reduce((sum, { requestCount }) => sum + requestCount, queue.requestCount);
  return perfs.length === 0 ? Infinity : Math.max(1, peakCount, underway) * Math.max(...perfs);
}

/** True if one worker has to be hot without any load: the endpoint never sleeps, or was used just now. */
function mustStayWarm(situation: Situation, fleet: Fleet, expected: Anticipation): boolean {
  const { inactivityTimeoutS: timeoutS } = situation.parameters;
  if (fleet.serving.some((worker) => !isIdle(worker))) return true;
  if (timeoutS === undefined) return false;
  return timeoutS < 0 || quietMs(situation, expected) < timeoutS * SECOND_MS;
}

/** True if no request came for so long that earlier traffic predicts nothing, and none waits. */
function isQuiet(situation: Situation, expected: Anticipation): boolean {
  return situation.queue.requestCount === 0 && isUnused(situation, expected);
}

/** True if no worker had a request for so long, as of a moment, that earlier traffic predicts nothing. */
function isUnused(situation: Situation, expected: Anticipation, asOfMs = situation.nowMs): boolean {
  // A worker that has just begun to drain is only assumed to have work: that alone must not call it back.
  const isAtWork = (worker: WorkerView) => worker.load > 0 || (worker.draining === undefined && !isIdle(worker));
  return !situation.workers.some(isAtWork) && quietMs(situation, expected, asOfMs) >= quietLimitMs(situation);
}

/** Milliseconds without a request after which no load is expected any more. */
function quietLimitMs({ parameters: { inactivityTimeoutS: timeoutS } }: Situation): number {
  return (timeoutS === undefined || timeoutS <= 0 ? QUIET_S : timeoutS) * SECOND_MS;
}

/** Traffic since the last quiet spell: earlier traffic was already forgotten. */
function sinceQuiet(samples: readonly LoadSample[], limitMs: number): readonly LoadSample[] {
  for (let index = samples.length - 1; index > 0; index -= 1) {
    const gapMs = (samples[index]?.secondMs ?? 0) - (samples[index - 1]?.secondMs ?? 0);
    if (gapMs >= limitMs) return samples.slice(index);
  }
  return samples;
}

/** Milliseconds from the last use of the endpoint to a moment, by default now; infinite when it was never used. */
function quietMs({ workers, nowMs }: Situation, { lastActiveMs }: Anticipation, asOfMs = nowMs): number {
  const times = workers.map(({ activeAtMs }) => activeAtMs ?? -Infinity);
  return asOfMs - Math.max(lastActiveMs ?? -Infinity, ...times);
}

/**
 * The capacity that works off the held requests within the target time, beside the work at hand; 0 while none is
 * held. A held request means that the present workers do not suffice.
 */
function pressedTarget({ queue, parameters, nowMs }: Situation, servingPerf: number): number {
  const targetS = parameters.targetQueueTimeS ?? TARGET_QUEUE_TIME_S;
  if (queue.requestCount === 0) return 0;
  const oldestS = queue.oldestMs === undefined ? 0 : (nowMs - queue.oldestMs) / SECOND_MS;
  const haste = oldestS > targetS ? HASTE : 1;
  return servingPerf + Math.max((haste * queue.load) / Math.max(targetS, 1), PRESSURE * servingPerf);
}

/** The capacity that makes up for the backlog; 0 while there is none, or while no worker can be started for it. */
function catchUpTarget(
  { samples, queue }: Situation,
  fleet: Fleet,
  facts: Omit<Parameters<typeof catchUpCapacity>[1], "loadAtHand">,
): number {
  if (fleet.parked.length === 0 && fleet.retrievable.length === 0) return 0;
  // Draining workers finish their requests by themselves.
  const loadAtHand = fleet.serving.reduce((sum, { load }) => sum + load, queue.load);
  return catchUpCapacity(samples, { ...facts, loadAtHand });
}

/**
 * The duration of a start from stopped where one was measured, otherwise of a first start; the longest of all groups.
 */
function expectedStartMs({ groups, workers }: Situation): number {
  const known = groups.flatMap(({ id, warmStartMs, firstStartMs }) => {
    const own = workers.filter(({ groupId }) => groupId === id);
    return warmStartMs ?? median(own.flatMap((worker) => worker.warmStartMs ?? [])) ?? firstStartMs ?? [];
  });
  return Math.min(START_MS_MAX, known.length === 0 ? UNKNOWN_START_MS : Math.max(...known));
}

/** The figures of a plan as they are stored and shown. */
export function toTargets({ queue }: Situation, fleet: Fleet, plan: Plan): Targets {
  const known = (workers: readonly WorkerView[]) =>
    workers.reduce((sum, worker) => sum + (fleet.perfs.ofWorker(worker) ?? 0), 0);
  const hot = [...fleet.serving, ...fleet.coming];
  return {
    anticipatedLoad: plan.anticipation.rise,
    hotTarget: plan.startTarget,
    totalTarget: plan.totalTarget,
    hotPerf: known(hot),
    totalPerf: known(fleet.staying),
    hotCount: hot.length,
    totalCount: fleet.staying.length,
    queuedCount: queue.requestCount,
  };
}
