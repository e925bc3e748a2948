import { countedPerf, type Fleet, isIdle } from "./fleet.ts";
import { byValue } from "./recruits.ts";
import type { Plan } from "./targets.ts";
import type { Action, Situation, WorkerView } from "./types.ts";

/** After this time a request that was sent just before a worker drained has arrived there. */
const DRAIN_MS = 2_000;
/** After a worker became ready, none is released for this long: the load that called for it may return. */
const SETTLE_MS = 60_000;

/** Orders that hold at any load: drained workers are put away, and failed ones are not paid for any longer. */
export function planDuties({ workers, nowMs }: Situation): readonly Action[] {
  return workers.flatMap((worker): Action[] => {
    const { id: workerId, phase, draining, failure } = worker;
    if (phase === "failed") {
      return [{ kind: "destroy", workerId, why: `it failed: ${failure === "" ? "it does not answer" : failure}` }];
    }
    const isDrained = phase === "ready" && isIdle(worker) && nowMs - (draining?.sinceMs ?? nowMs) >= DRAIN_MS;
    const isPutAway = phase === "stopped" && draining !== undefined && draining.to !== "stop";
    if (draining === undefined || (!isDrained && !isPutAway)) return [];
    return [{ kind: draining.to, workerId, why: "it has no request left" }];
  });
}

/** Makes every worker inactive: those at work finish their requests first. */
export function planWindDown({ workers }: Situation): readonly Action[] {
  const why = "the endpoint is stopped";
  return workers.flatMap(({ id: workerId, phase, draining }): Action[] => {
    if (draining !== undefined) return [];
    if (phase === "ready") return [{ kind: "drain", workerId, to: "stop", why }];
    const isComing = phase === "ordered" || phase === "loading" || phase === "starting";
    return isComing ? [{ kind: "stop", workerId, why }] : [];
  });
}

/** Counts the workers that stay, in all and by group, as others are released one by one. */
class Headcount {
  total: number;
  perf: number;
  readonly #byGroup = new Map<number, number>();
  readonly #fleet: Fleet;
  readonly #plan: Plan;

  constructor(fleet: Fleet, plan: Plan) {
    [this.#fleet, this.#plan] = [fleet, plan];
    [this.total, this.perf] = [fleet.staying.length, plan.totalPerf];
    for (const { groupId } of fleet.staying) this.#byGroup.set(groupId, this.ofGroup(groupId) + 1);
  }

  ofGroup(groupId: number): number {
    return this.#byGroup.get(groupId) ?? 0;
  }

  perfWithout(worker: WorkerView): number {
    return this.perf - countedPerf(this.#fleet, worker, this.#plan.enough);
  }

  lose(worker: WorkerView): void {
    this.perf = this.perfWithout(worker);
    this.total -= 1;
    this.#byGroup.set(worker.groupId, this.ofGroup(worker.groupId) - 1);
  }
}

/** Releases workers above a lowered limit or of a deleted group; those at work finish first. */
export function planExcess({ parameters }: Situation, fleet: Fleet, plan: Plan): readonly Action[] {
  const headcount = new Headcount(fleet, plan);
  const why = "max_workers was lowered";
  const worstFirst = (workers: readonly WorkerView[]) => byValue(fleet, plan, workers).toReversed();
  return [...worstFirst(fleet.parked), ...worstFirst(fleet.serving.filter(isIdle))].flatMap((worker): Action[] => {
    const limit = fleet.groups.get(worker.groupId)?.maxWorkers ?? 0;
    if (headcount.total <= parameters.maxWorkers && headcount.ofGroup(worker.groupId) <= limit) return [];
    headcount.lose(worker);
    const { id: workerId } = worker;
    return [
      worker.phase === "stopped" ? { kind: "destroy", workerId, why } : { kind: "drain", workerId, to: "destroy", why },
    ];
  });
}

/**
 * Drains workers that are not needed, the least valuable first and only idle ones. A worker that fits into the pool
 * of stopped ones is stopped; any other is destroyed.
 */
export function planReleases(situation: Situation, fleet: Fleet, plan: Plan): readonly Action[] {
  const { coldWorkers } = situation.parameters;
  const headcount = new Headcount(fleet, plan);
  const mayLose = (worker: WorkerView): boolean => {
    const share = Math.min(fleet.groups.get(worker.groupId)?.coldWorkers ?? 0, coldWorkers);
    const isOwed = headcount.ofGroup(worker.groupId) <= share;
    return !isOwed && headcount.total > plan.totalCountMin && headcount.perfWithout(worker) >= plan.totalKeep;
  };
  const actions: Action[] = [];
  for (const worker of byValue(fleet, plan, fleet.parked).toReversed()) {
    if (!mayLose(worker)) continue;
    headcount.lose(worker);
    actions.push({ kind: "destroy", workerId: worker.id, why: "fewer stopped workers are enough" });
  }
  const lose = (worker: WorkerView) => headcount.lose(worker);
  return [...actions, ...planDrains(situation, fleet, plan, { mayLose, lose })];
}

function planDrains(
  { nowMs }: Situation,
  fleet: Fleet,
  plan: Plan,
  pool: { readonly mayLose: (worker: WorkerView) => boolean; readonly lose: (worker: WorkerView) => void },
): readonly Action[] {
  const settlesMs = fleet.serving.map(({ phaseSinceMs }) => phaseSinceMs + SETTLE_MS);
  if (fleet.coming.length > 0 || settlesMs.some((untilMs) => nowMs < untilMs)) return [];
  const actions: Action[] = [];
  let count = fleet.serving.length;
  let perf = fleet.serving.reduce((sum, worker) => sum + countedPerf(fleet, worker, plan.enough), 0);
  for (const worker of byValue(fleet, plan, fleet.serving).toReversed()) {
    const left = perf - countedPerf(fleet, worker, plan.enough);
    const isSpare = left >= plan.hotKeep && count > plan.hotCountMin;
    if (!isIdle(worker) || !isSpare) continue;
    const to = pool.mayLose(worker) ? "destroy" : "stop";
    if (to === "destroy") pool.lose(worker);
    const why = plan.hotKeep > 0 ? "the others carry the load" : "there is nothing to do";
    actions.push({ kind: "drain", workerId: worker.id, to, why });
    perf = left;
    count -= 1;
  }
  return actions;
}
