import { countedPerf, type Fleet, isIdle, sumPerf } from "./fleet.ts";
import { byValue, rentStandIn } from "./recruits.ts";
import type { Plan } from "./targets.ts";
import type { Action, GroupView, Situation, WorkerView } from "./types.ts";

/** So large a part of the active workers of a group may be away at once, and always one. */
const AWAY_PART = 0.25;

export function hasOutdated({ groups, workers }: Pick<Situation, "groups" | "workers">): boolean {
  const updating = new Set<number>(groups.filter(({ isUpdating }) => isUpdating).map(({ id }) => id));
  return workers.some(({ isOutdated, groupId, phase }) => isOutdated && phase !== "failed" && updating.has(groupId));
}

/** Brings workers of groups that are being updated to the present recipe, without taking capacity that is in use. */
export function planUpdates(situation: Situation, fleet: Fleet, plan: Plan): readonly Action[] {
  return situation.groups
    .filter(({ isUpdating }) => isUpdating)
    .flatMap((group) => planGroup(situation, fleet, plan, group));
}

function planGroup(situation: Situation, fleet: Fleet, plan: Plan, group: GroupView): readonly Action[] {
  const own = situation.workers.filter(({ groupId, phase }) => groupId === group.id && phase !== "failed");
  const parked = fleet.parked.filter(({ groupId, isOutdated }) => groupId === group.id && isOutdated);
  if (parked.length > 0) {
    return parked.map(({ id }): Action => ({ kind: "update", workerId: id, why: "stopped workers are updated first" }));
  }
  const isAway = ({ draining, phase, isOutdated }: WorkerView) =>
    draining?.to === "update" || (phase === "loading" && !isOutdated);
  const active = own.filter(({ phase }) => phase === "ready" || phase === "loading");
  let room = Math.max(1, Math.floor(active.length * AWAY_PART)) - own.filter(isAway).length;
  const due = fleet.serving.filter(({ groupId, isOutdated }) => groupId === group.id && isOutdated);
  const actions: Action[] = [];
  let perf = sumPerf(fleet, fleet.serving, plan.enough);
  for (const worker of due.toSorted((a, b) => a.load - b.load || a.id - b.id)) {
    if (room <= 0) break;
    const left = perf - countedPerf(fleet, worker, plan.enough);
    if (!isCarried(left, plan)) {
      return actions.length > 0 ? actions : replaceFirst(situation, fleet, plan, worker);
    }
    actions.push(drainToUpdate(worker));
    perf = left;
    room -= 1;
  }
  return actions;
}

/** The load that is expected fits what is left, be it without the spare that is kept otherwise. */
function isCarried(leftPerf: number, { anticipation, hotCountMin, isPressed }: Plan): boolean {
  return !isPressed && leftPerf >= anticipation.rise && (leftPerf > 0 || hotCountMin === 0);
}

/** Somebody else is made ready in its place; where nobody can be, it is updated once it has no work. */
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
