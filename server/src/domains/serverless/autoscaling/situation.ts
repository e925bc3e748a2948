import { nanos } from "../../../base/money.ts";
import type { GroupView, LoadSample, QueueView, Situation, WorkerView } from "./rules/types.ts";
import { knownStarts, type Hand } from "./fleet-review.ts";
import type { EndpointGroup } from "../endpoints/store.ts";
import type { WorkerGroup } from "../worker-groups/worker-group.ts";
import { phaseOf, phaseSinceMs } from "./worker-standing.ts";

/** Requests that this server knows of by itself, beside the reports of workers. */
export type Traffic = {
  readonly loadOf: (workerId: Hand["worker"]["instanceId"]) => { readonly load: number; readonly requestCount: number };
  readonly queue: QueueView;
};

export type SituationFacts = {
  readonly nowMs: number;
  readonly endpoint: EndpointGroup;
  readonly groups: readonly WorkerGroup[];
  readonly hands: readonly Hand[];
  readonly dlperfOf: (hand: Hand) => number;
  readonly samples: readonly LoadSample[];
  readonly traffic: Traffic;
  readonly spendingStop: Situation["spendingStop"];
  /** Searches offers, only when the decision depends on them. */
  readonly findOffers: () => Situation["offers"];
};

/** Builds the situation that a decision depends on, from the stored facts and this server's knowledge. */
export function situationOf(facts: SituationFacts): Situation {
  const { endpoint, groups, hands, nowMs } = facts;
  let offers: Situation["offers"] | undefined;
  return {
    nowMs,
    endpointId: endpoint.id,
    parameters: endpoint,
    groups: groupViews(groups, hands),
    workers: hands.flatMap((hand) => workerView(hand, facts) ?? []),
    get offers() {
      return (offers ??= facts.findOffers());
    },
    samples: facts.samples,
    queue: facts.traffic.queue,
    spendingStop: facts.spendingStop,
    createdAtMs: endpoint.createdAt.getTime(),
  };
}

function groupViews(groups: readonly WorkerGroup[], hands: readonly Hand[]): readonly GroupView[] {
  const starts = knownStarts(hands);
  return groups.map((group) => ({
    id: group.id,
    coldWorkers: group.coldWorkers,
    maxWorkers: group.maxWorkers,
    testWorkers: group.testWorkers,
    maxNanosPerHour: group.maxNanosPerHour,
    isUpdating: group.isUpdating,
    failureCount: group.failureCount,
    resumesAtMs: group.resumesAt?.getTime(),
    firstStartMs: starts.get(group.id)?.firstMs,
    warmStartMs: starts.get(group.id)?.warmMs,
  }));
}

function workerView(hand: Hand, facts: SituationFacts): WorkerView | undefined {
  const { worker, instance } = hand;
  const { workerGroupId: groupId, draining } = worker;
  // The worker is from before there were worker groups, or was made by hand: its recipe is unknown.
  if (groupId === undefined) return undefined;
  const phase = phaseOf(worker, instance);
  const group = facts.groups.find(({ id }) => id === groupId);
  return {
    id: worker.instanceId,
    groupId,
    machineId: instance.machineId,
    phase,
    phaseSinceMs: phaseSinceMs(worker, instance, phase),
    rentedAtMs: worker.createdAt.getTime(),
    claimedPerf: worker.claimedPerf,
    observedPerf: worker.observedPerf,
    dlperf: facts.dlperfOf(hand),
    priceNanosPerHour: nanos(instance.deviceNanosPerHour + instance.diskNanosPerHour),
    coldPriceNanosPerHour: instance.diskNanosPerHour,
    ...workOf(hand, facts),
    activeAtMs: worker.activeAt?.getTime(),
    warmStartMs: worker.warmStartMs,
    draining: draining && { to: draining.to, sinceMs: draining.at.getTime() },
    isOutdated: group !== undefined && worker.generation < group.generation,
    failure: worker.failure,
  };
}

/** The work of a worker: its last report, or the requests that this server gave it since, whichever is more. */
function workOf({ worker, instance }: Hand, { traffic }: SituationFacts): Pick<WorkerView, "load" | "requestCount"> {
  if (phaseOf(worker, instance) !== "ready") return { load: 0, requestCount: 0 };
  const routed = traffic.loadOf(worker.instanceId);
  const load = Math.max(worker.currentLoad, routed.load);
  const requestCount = Math.max(worker.workingCount, routed.requestCount);
  return hasSpoken(worker) ? { load, requestCount } : { load, requestCount: Math.max(1, requestCount) };
}

/**
 * A request that another server sent just before the worker began to drain is in the worker's next report and nowhere
 * else.
 */
const ARRIVED_MS = 2_000;

/** True if the last report of a draining worker includes every request that it was ever given. */
export function hasSpoken({ draining, reportedAt }: Pick<Hand["worker"], "draining" | "reportedAt">): boolean {
  if (draining === undefined) return true;
  return (reportedAt?.getTime() ?? Number.NEGATIVE_INFINITY) >= draining.at.getTime() + ARRIVED_MS;
}
