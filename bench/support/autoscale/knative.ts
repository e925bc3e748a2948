import { planDuties } from "../../../server/src/domains/serverless/autoscaling/rules/releases.ts";
import type { Action, Situation, WorkerView } from "../../../server/src/domains/serverless/autoscaling/rules/types.ts";
import type { Policy } from "../../../server/src/domains/serverless/simulation/types.ts";

const TICK_MS = 2_000;
const STABLE_MS = 60_000;
const PANIC_MS = 6_000;
const PANIC_THRESHOLD = 2;
const SCALE_TO_ZERO_GRACE_MS = 30_000;
const SCALE_UP_MAX = 1_000;
const SCALE_DOWN_MAX = 2;

/**
 * The pod autoscaler of Knative by its published description and defaults: mean concurrency over a stable window of 60 s and
 * a panic window of 6 s, against a share (70 % by default) of what a container does at a time; panic from twice the capacity on, in which it never
 * scales down. Requests that are held count as concurrency, as those at its activator do.
 */
export function knativePolicy(
  parallelCount: number,
  { targetUtilization = 0.7 }: { readonly targetUtilization?: number } = {},
): Policy {
  const seen: { atMs: number; concurrency: number }[] = [];
  let [decidedAtMs, panickedAtMs, panicCount] = [-Infinity, -Infinity, 0];
  let zeroSinceMs: number | undefined;
  return (situation) => {
    const { nowMs, workers, queue } = situation;
    const concurrency = workers.reduce((sum, { requestCount }) => sum + requestCount, queue.requestCount);
    seen.push({ atMs: nowMs, concurrency });
    while ((seen[0]?.atMs ?? nowMs) <= nowMs - STABLE_MS) seen.shift();
    const duties = planDuties(situation);
    if (nowMs - decidedAtMs < TICK_MS) return duties;
    decidedAtMs = nowMs;
    const ready = workers.filter(({ phase, draining }) => phase === "ready" && draining === undefined).length;
    const target = parallelCount * targetUtilization;
    const limit = (count: number) =>
      Math.min(Math.ceil(Math.max(1, ready) * SCALE_UP_MAX), Math.max(count, Math.floor(ready / SCALE_DOWN_MAX)));
    const stable = limit(Math.ceil(meanSince(seen, nowMs - STABLE_MS) / target));
    const panic = limit(Math.ceil(meanSince(seen, nowMs - PANIC_MS) / target));
    if (panic >= PANIC_THRESHOLD * Math.max(1, ready)) panickedAtMs = nowMs;
    const isPanicking = nowMs - panickedAtMs < STABLE_MS;
    panicCount = isPanicking ? Math.max(panicCount, panic) : 0;
    let desired = isPanicking ? Math.max(panicCount, stable) : stable;
    zeroSinceMs = desired === 0 ? (zeroSinceMs ?? nowMs) : undefined;
    if (zeroSinceMs !== undefined && nowMs - zeroSinceMs < SCALE_TO_ZERO_GRACE_MS) desired = Math.min(1, ready);
    return [...duties, ...scaleTo(situation, desired)];
  };
}

function meanSince(seen: readonly { readonly atMs: number; readonly concurrency: number }[], sinceMs: number): number {
  const recent = seen.filter(({ atMs }) => atMs > sinceMs);
  return recent.reduce((sum, { concurrency }) => sum + concurrency, 0) / Math.max(1, recent.length);
}

/** Starts or drains workers until the desired number is there or on its way; the least busy one drains first. */
export function scaleTo({ workers, parameters }: Situation, desired: number): readonly Action[] {
  const isHot = ({ phase, draining }: WorkerView) =>
    (phase === "ready" || phase === "starting" || phase === "loading") && draining === undefined;
  const hot = workers.filter(isHot);
  const count = Math.min(desired, parameters.maxWorkers) - hot.length;
  if (count > 0) {
    const retrievable = workers.filter(({ phase, draining }) => phase === "ready" && draining !== undefined);
    const stopped = workers.filter(({ phase }) => phase === "stopped");
    return [
      ...retrievable.map(({ id }): Action => ({ kind: "undrain", workerId: id, why: "wanted" })),
      ...stopped.map(({ id }): Action => ({ kind: "start", workerId: id, why: "wanted" })),
    ].slice(0, count);
  }
  const leaving = hot.filter(({ phase }) => phase === "ready").toSorted((a, b) => a.load - b.load);
  return leaving.slice(0, -count).map(({ id }): Action => ({ kind: "drain", workerId: id, to: "stop", why: "spare" }));
}
