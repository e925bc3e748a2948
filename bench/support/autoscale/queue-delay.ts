import { planDuties } from "../../../server/src/domains/serverless/autoscaling/rules/releases.ts";
import type { Policy } from "../../../server/src/domains/serverless/simulation/types.ts";
import { scaleTo } from "./knative.ts";

/**
 * The rule of serverless GPU providers by their published descriptions: while a request waits for longer than so many
 * seconds (4 by default) another worker is started; one that had nothing to do for some seconds (5 by default) is released.
 * A request waits where no worker has room for it, be it held or behind others at its worker.
 */
export function queueDelayPolicy(
  parallelCount: number,
  { delayMs = 4_000, idleMs = 5_000 }: { readonly delayMs?: number; readonly idleMs?: number } = {},
): Policy {
  let waitingSinceMs: number | undefined;
  return (situation) => {
    const { nowMs, workers, queue } = situation;
    const duties = planDuties(situation);
    const overfull = workers.some(({ requestCount }) => requestCount > parallelCount);
    const isWaiting = queue.requestCount > 0 || overfull;
    waitingSinceMs = isWaiting ? (waitingSinceMs ?? nowMs) : undefined;
    const sinceMs = Math.min(waitingSinceMs ?? nowMs, queue.oldestMs ?? nowMs);
    const ready = workers.filter(({ phase, draining }) => phase === "ready" && draining === undefined);
    const coming = workers.filter(({ phase }) => phase === "starting" || phase === "loading").length;
    const hot = ready.length + coming;
    if (hot === 0 && queue.requestCount > 0) return [...duties, ...scaleTo(situation, 1)];
    if (nowMs - sinceMs > delayMs) {
      waitingSinceMs = nowMs;
      return [...duties, ...scaleTo(situation, hot + 1)];
    }
    const idle = ready.filter(
      ({ requestCount, activeAtMs, phaseSinceMs }) =>
        requestCount === 0 && nowMs - Math.max(activeAtMs ?? 0, phaseSinceMs) > idleMs,
    );
    return [...duties, ...(isWaiting ? [] : scaleTo(situation, hot - idle.length))];
  };
}
