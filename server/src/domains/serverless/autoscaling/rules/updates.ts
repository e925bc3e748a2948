import { countedPerf, type Fleet, isIdle, sumPerf } from "./fleet.ts";
import { byValue, rentStandIn } from "./recruits.ts";
import type { Plan } from "./targets.ts";
import type { Action, GroupView, Situation, WorkerView } from "./types.ts";

/** The share of the active workers of a group that may be away at once; one always may. */
const AWAY_PART = 0.25;

export function hasOutdated({ groups, workers }: Pick<Situation, "groups" | "workers">): boolean {
  const updating = new Set<number>(groups.filter(({ isUpdating }) => isUpdating).map(({ id }) => id));
  return workers.some(({ isOutdated, groupId, phase }) => isOutdated && phase !== "failed" && updating.has(groupId));
}

/**
 * Updates workers of groups with a new recipe, without taking capacity that is in use. Capacity that one group takes
 * is gone for the next one, and no stand-in is rented while a worker that was rented for another reason is on its
 * way.
 */
export function planUpdates(
  situation: Situation,
  fleet: Fleet,
  plan: Plan,
  { isRenting }: { readonly isRenting: boolean },
): readonly Action[] {
  const actions: Action[] = [];
  let perf = sumPerf(fleet, fleet.serving, plan.enough);
  for (const group of situation.groups.filter(({ isUpdating }) => isUpdating)) {
    const parked = outdatedOf(group, fleet.parked);
    for (const { id } of parked) {
      actions.push({ kind: "update", workerId: id, why: "stopped workers are updated first" });
    }
    // The active workers of a group wait until its stopped ones were tried.
    const due = parked.length > 0 ? [] : outdatedOf(group, fleet.serving).slice(0, roomToLeave(situation, group));
    for (const worker of due) {
      const left = perf - countedPerf(fleet, worker, plan.enough);
      if (isCarried(left, plan)) {
        actions.push(drainToUpdate(worker));
        perf = left;
        continue;
      }
      const isFirst = actions.length === 0 && !isRenting;
      if (isFirst) actions.push(...replaceFirst(situation, fleet, plan, worker));
      break;
    }
  }
  return actions;
}

/** Outdated workers, those with the least work first. */
function outdatedOf(group: GroupView, workers: readonly WorkerView[]): readonly WorkerView[] {
  return workers
    .filter(({ groupId, isOutdated }) => groupId === group.id && isOutdated)
    .toSorted((a, b) => a.load - b.load || a.id - b.id);
}

/** The number of further workers of a group that may be away now. */
function roomToLeave({ workers }: Situation, group: GroupView): number {
  const own = workers.filter(({ groupId, phase }) => groupId === group.id && phase !== "failed");
  // A recreated worker is first `ordered` and then `loading`, as at its first start.
  const isComing = ({ phase }: WorkerView) => phase === "ordered" || phase === "loading";
  const isAway = (worker: WorkerView) => worker.draining?.to === "update" || (isComing(worker) && !worker.isOutdated);
  const active = own.filter((worker) => worker.phase === "ready" || isComing(worker));
  return Math.max(0, Math.max(1, Math.floor(active.length * AWAY_PART)) - own.filter(isAway).length);
}

/** True if the remaining workers carry the expected load, even if without the usual spare capacity. */
function isCarried(leftPerf: number, { anticipation, hotCountMin, isPressed }: Plan): boolean {
  return !isPressed && leftPerf >= anticipation.rise && (leftPerf > 0 || hotCountMin === 0);
}

/** Makes another worker ready in its place; if that is impossible, the worker is updated once it has no work. */
function replaceFirst(situation: Situation, fleet: Fleet, plan: Plan, worker: WorkerView): readonly Action[] {
  if (fleet.coming.length > 0 || fleet.retrievable.length > 0) return [];
  const why = `it stands in while worker ${worker.id} is updated`;
  const [best] = byValue(fleet, plan, fleet.parked);
  if (best !== undefined && situation.spendingStop === undefined) return [{ kind: "start", workerId: best.id, why }];
  const rent = rentStandIn(situation, fleet, plan, why);
  if (rent !== undefined) return [rent];
  return isIdle(worker) && situation.queue.requestCount === 0 ? [drainToUpdate(worker)] : [];
}

function drainToUpdate({ id }: WorkerView): Action {
  return { kind: "drain", workerId: id, to: "update", why: "it has an earlier recipe than its group" };
}
