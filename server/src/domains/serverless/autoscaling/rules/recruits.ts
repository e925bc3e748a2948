import { countedPerf, type Fleet, isTooDear, valueOf } from "./fleet.ts";
import type { Plan } from "./targets.ts";
import type { Action, GroupView, OfferView, Situation, WorkerView } from "./types.ts";

/** Share of the target that may be missing: no worker is started for the last percent. */
const TOLERANCE = 0.02;
/** A better offer replaces the worst worker only if it is better by this factor. */
const CLEARLY_BETTER = 1.5;
/** Pause between any rent and a replacement: a new worker proves itself first. */
const REPLACEMENT_PAUSE_MS = 1_800_000;
/**
 * Better offers are searched in one second of each minute, a different one for each endpoint, as a search is not
 * free.
 */
const LOOK_EVERY_S = 60;

export type Recruiting = {
  readonly actions: readonly Action[];
  /** The reason why fewer workers were ordered than are needed. */
  readonly shortage: "limit" | "learning" | "backing_off" | "no_offers" | "too_dear" | "spending" | undefined;
  readonly isLearning: boolean;
};

type Roster = {
  readonly situation: Situation;
  readonly fleet: Fleet;
  readonly plan: Plan;
  readonly countByGroup: Map<number, number>;
  readonly rentedByGroup: Map<number, number>;
  readonly machinesTaken: Set<number>;
  count: number;
};

/** Workers to start and to rent so that the targets are met: stopped ones first, as they are ready before new ones. */
export function planRecruits(situation: Situation, fleet: Fleet, plan: Plan): Recruiting {
  const starts = planStarts(situation, fleet, plan);
  const roster = takeRoster(situation, fleet, plan);
  // Without money the market is not searched.
  const isStopped = situation.spendingStop !== undefined;
  const learning = isStopped ? [] : planLearning(roster);
  const hotMissing = plan.hotTarget - plan.hotPerf - starts.perf;
  const isHotCountMissing =
    fleet.serving.length + fleet.coming.length + starts.actions.length + learning.length < plan.hotCountMin;
  const rents = [...learning];
  let shortage: Recruiting["shortage"];
  let hot = isHotCountMissing ? Math.max(hotMissing, Number.MIN_VALUE) : hotMissing;
  let total = plan.totalTarget - plan.totalPerf;
  if (learning.length > 0) [hot, total] = [0, 0];
  const isShort = (): boolean =>
    hot > TOLERANCE * plan.hotTarget || total > TOLERANCE * plan.totalTarget || roster.count < plan.totalCountMin;
  if (isStopped) {
    const isNeeded = starts.actions.some(({ kind }) => kind === "start") || isShort();
    return {
      actions: starts.actions.filter(({ kind }) => kind === "undrain"),
      shortage: isNeeded ? "spending" : undefined,
      isLearning: false,
    };
  }
  while (isShort() && shortage === undefined) {
    const next = nextRent(roster);
    if (typeof next === "string") shortage = next;
    else {
      rents.push(next.action);
      hot -= next.perf;
      total -= next.perf;
    }
  }
  const isLearning = shortage === "learning" || (!fleet.isMeasured && (learning.length > 0 || fleet.coming.length > 0));
  return { actions: [...starts.actions, ...rents], shortage, isLearning };
}

/** Takes back draining workers, then starts stopped ones, the best value first, until the target is met. */
function planStarts(situation: Situation, fleet: Fleet, plan: Plan): { actions: Action[]; perf: number } {
  const actions: Action[] = [];
  let perf = 0;
  let count = fleet.serving.length + fleet.coming.length;
  const seconds = Math.round(plan.startMs / 1000);
  const late = latePerf(situation, fleet, plan);
  const candidates = [
    ...byValue(fleet, plan, fleet.retrievable).map((worker) => ({ worker, kind: "undrain" as const })),
    ...byValue(fleet, plan, fleet.parked).map((worker) => ({ worker, kind: "start" as const })),
  ];
  for (const { worker, kind } of candidates) {
    const missing = plan.startTarget - (plan.hotPerf - late) - perf;
    if (missing <= TOLERANCE * plan.startTarget && count >= plan.hotCountMin) break;
    const why = kind === "undrain" ? "it is needed again before it stopped" : `it is ready in about ${seconds} s`;
    actions.push({ kind, workerId: worker.id, why });
    perf += countedPerf(fleet, worker, plan.enough);
    count += 1;
  }
  return { actions, perf };
}

/**
 * Performance of workers that start for the first time and will be ready later than one that is started from stopped.
 */
function latePerf({ nowMs }: Situation, fleet: Fleet, plan: Plan): number {
  const isLate = ({ phase, phaseSinceMs, groupId }: WorkerView): boolean => {
    const firstStartMs = fleet.groups.get(groupId)?.firstStartMs;
    return phase !== "starting" && firstStartMs !== undefined && phaseSinceMs + firstStartMs - nowMs > plan.startMs;
  };
  if (fleet.parked.length === 0) return 0;
  return fleet.coming.filter(isLate).reduce((sum, worker) => sum + countedPerf(fleet, worker, plan.enough), 0);
}

/** Workers by value, the best first; outdated ones after all others. */
export function byValue(fleet: Fleet, plan: Plan, workers: readonly WorkerView[]): readonly WorkerView[] {
  const value = (worker: WorkerView) => valueOf(countedPerf(fleet, worker, plan.enough), worker.priceNanosPerHour);
  const isOutdated = ({ isOutdated: outdated }: WorkerView) => Number(outdated);
  return workers.toSorted((a, b) => isOutdated(a) - isOutdated(b) || value(b) - value(a) || a.id - b.id);
}

function takeRoster(situation: Situation, fleet: Fleet, plan: Plan): Roster {
  const countByGroup = new Map<number, number>();
  for (const { groupId } of situation.workers) countByGroup.set(groupId, (countByGroup.get(groupId) ?? 0) + 1);
  return {
    situation,
    fleet,
    plan,
    countByGroup,
    rentedByGroup: new Map(),
    machinesTaken: new Set(),
    count: situation.workers.length,
  };
}

/** The first workers of a group are rented together, as their measures decide what to rent; no more until then. */
function planLearning(roster: Roster): Action[] {
  const { situation, plan, countByGroup } = roster;
  const isWanted = plan.hotCountMin > 0 || plan.totalTarget > 0 || plan.totalCountMin > 0;
  if (!isWanted) return [];
  const actions: Action[] = [];
  for (const group of situation.groups) {
    if (!isUnknown(roster, group) || group.firstStartMs !== undefined) continue;
    while ((countByGroup.get(group.id) ?? 0) < group.testWorkers) {
      const next = rentFor(roster, [group], "it is measured first");
      if (typeof next === "string") break;
      actions.push(next.action);
    }
  }
  return actions;
}

/** True if no worker of the group was measured or was ever ready. */
function isUnknown({ situation, fleet }: Roster, { id }: GroupView): boolean {
  return !situation.workers.some((worker) => {
    const wasReady = worker.phase === "ready" || worker.phase === "stopping" || worker.phase === "stopped";
    return worker.groupId === id && (wasReady || fleet.perfs.ofWorker(worker) !== undefined);
  });
}

type Rent = { readonly action: Action; readonly perf: number };

/** The next worker to rent: for a group below its own minimum first, otherwise the best of all. */
function nextRent(roster: Roster): Rent | Exclude<Recruiting["shortage"], undefined> {
  const { situation, countByGroup } = roster;
  const { coldWorkers } = situation.parameters;
  const owing = situation.groups.filter(
    ({ id, coldWorkers: share }) => (countByGroup.get(id) ?? 0) < Math.min(share, coldWorkers),
  );
  const first = owing.length === 0 ? "no_offers" : rentFor(roster, owing, "its group has too few workers");
  return typeof first === "string" ? rentFor(roster, situation.groups, "it serves most for its price") : first;
}

/** Rents one more worker than the targets ask for, if there is room for it. */
export function rentStandIn(situation: Situation, fleet: Fleet, plan: Plan, why: string): Action | undefined {
  if (situation.spendingStop !== undefined) return undefined;
  const rent = rentFor(takeRoster(situation, fleet, plan), situation.groups, why);
  return typeof rent === "string" ? undefined : rent.action;
}

function rentFor(
  roster: Roster,
  groups: readonly GroupView[],
  why: string,
): Rent | Exclude<Recruiting["shortage"], undefined> {
  const { situation, countByGroup, rentedByGroup, machinesTaken, plan } = roster;
  if (roster.count >= situation.parameters.maxWorkers) return "limit";
  const withRoom = groups.filter(({ id, maxWorkers }) => (countByGroup.get(id) ?? 0) < maxWorkers);
  if (withRoom.length === 0) return groups.length === 0 ? "no_offers" : "limit";
  const known = withRoom.filter((group) => !isTested(roster, group));
  if (known.length === 0) return "learning";
  const ready = known.filter((group) => mayRent(roster, group));
  if (ready.length === 0) return "backing_off";
  const best = bestOffer(roster, ready, machinesTaken);
  if (best === undefined) return hasTooDear(roster, ready) ? "too_dear" : "no_offers";
  const { groupId, offerId, machineId } = best;
  machinesTaken.add(machineId);
  roster.count += 1;
  countByGroup.set(groupId, (countByGroup.get(groupId) ?? 0) + 1);
  rentedByGroup.set(groupId, (rentedByGroup.get(groupId) ?? 0) + 1);
  const perf = roster.fleet.perfs.ofOffer(best) ?? plan.enough;
  return { action: { kind: "rent", groupId, offerId, machineId, why }, perf };
}

/** True if the group has all its test workers, and none of them reported its performance yet. */
function isTested(roster: Roster, group: GroupView): boolean {
  return (roster.countByGroup.get(group.id) ?? 0) >= Math.max(1, group.testWorkers) && isUnknown(roster, group);
}

/** True unless a failure pauses the group: afterwards it rents one worker at a time until one becomes ready. */
function mayRent({ situation, fleet, rentedByGroup }: Roster, group: GroupView): boolean {
  if (group.resumesAtMs !== undefined && situation.nowMs < group.resumesAtMs) return false;
  if (group.failureCount === 0) return true;
  const isTried = fleet.coming.some(({ groupId, phase }) => groupId === group.id && phase !== "starting");
  return !isTried && (rentedByGroup.get(group.id) ?? 0) === 0;
}

/** True if these groups have offers left whose only fault is the price. */
function hasTooDear({ situation, fleet, machinesTaken }: Roster, groups: readonly GroupView[]): boolean {
  const allowed = new Set<number>(groups.map(({ id }) => id));
  return situation.offers.some(
    (offer) => allowed.has(offer.groupId) && !machinesTaken.has(offer.machineId) && isTooDear(fleet, offer),
  );
}

function bestOffer(
  { situation, fleet }: Pick<Roster, "situation" | "fleet">,
  groups: readonly GroupView[],
  machinesTaken: ReadonlySet<number>,
): OfferView | undefined {
  const allowed = new Set<number>(groups.map(({ id }) => id));
  let best: OfferView | undefined;
  let bestValue = Number.NEGATIVE_INFINITY;
  for (const offer of situation.offers) {
    if (!allowed.has(offer.groupId) || machinesTaken.has(offer.machineId) || isTooDear(fleet, offer)) continue;
    const value = offerValue(fleet, offer);
    if (value > bestValue || (value === bestValue && best !== undefined && offer.offerId < best.offerId)) {
      [best, bestValue] = [offer, value];
    }
  }
  return best;
}

function offerValue(fleet: Fleet, offer: OfferView): number {
  return valueOf((fleet.perfs.ofOffer(offer) ?? offer.dlperf) * offer.reliability, offer.priceNanosPerHour);
}

/**
 * Rents one worker in place of the worst when that clearly pays; the worst is released once the new one is there.
 * Only measured workers are replaced, and none while any other worker is on its way.
 */
export function planReplacement(situation: Situation, fleet: Fleet, plan: Plan): readonly Action[] {
  const { nowMs, workers, parameters } = situation;
  if ((Math.floor(nowMs / 1_000) - situation.endpointId) % LOOK_EVERY_S !== 0) return [];
  const isRestless =
    fleet.coming.length > 0 || fleet.failed.length > 0 || situation.spendingStop !== undefined || plan.isPressed;
  const isFull = workers.length >= parameters.maxWorkers;
  if (isRestless || isFull || workers.some(({ draining }) => draining !== undefined)) return [];
  for (const group of situation.groups) {
    const own = workers.filter(({ groupId }) => groupId === group.id);
    const isNew = own.some(({ rentedAtMs }) => nowMs - rentedAtMs < REPLACEMENT_PAUSE_MS);
    if (isNew || group.isUpdating || group.failureCount > 0 || own.length >= group.maxWorkers) continue;
    const judged = own.filter((worker) => fleet.perfs.ofWorker(worker) !== undefined);
    const worst = byValue(fleet, plan, judged).at(-1);
    const offer = bestOffer({ situation, fleet }, [group], new Set(own.map(({ machineId }) => machineId)));
    if (worst === undefined || offer === undefined || fleet.perfs.ofOffer(offer) === undefined) continue;
    const gain = offerValue(fleet, offer) / valueOf(countedPerf(fleet, worst, plan.enough), worst.priceNanosPerHour);
    const isSmaller = (fleet.perfs.ofOffer(offer) ?? 0) < countedPerf(fleet, worst, plan.enough);
    if (gain < CLEARLY_BETTER || isSmaller) continue;
    const why = `it serves ${gain.toFixed(1)} times as much for its price as worker ${worst.id}`;
    return [{ kind: "rent", groupId: group.id, offerId: offer.offerId, machineId: offer.machineId, why }];
  }
  return [];
}
