import { AppError } from "../../../base/errors.ts";
import type { InstanceId, WorkerGroupId } from "../../../base/ids.ts";
import type { Nanos } from "../../../base/money.ts";
import type { Tx } from "../../../db/transaction.ts";
import { listInstanceFacts, listSites } from "../../rental/instances/for-serverless.ts";
import { allowedOffers, explainRegistries } from "./allowed-offers.ts";
import type { Action, Decision, LoadSample, OfferView, Situation } from "./rules/types.ts";
import type { EndpointMemory, GroupWish } from "../routing/endpoint-memory.ts";
import { findLastReason, recordEvents, type NewEndpointEvent } from "./event-store.ts";
import { failWorker } from "./failure-service.ts";
import { fleetOf, isWorthStoring } from "../history/rules/fleet.ts";
import { insertFleet } from "../history/store.ts";
import { reviewFleet, type Hand, type Review, type ReviewRules } from "./fleet-review.ts";
import { hire, type HirePorts, type Rent } from "./hire-service.ts";
import { notePriceWaits, settleMaxima } from "./price-wait-service.ts";
import type { Routers } from "../routing/routers.ts";
import { listSamples } from "../workers/sample-store.ts";
import { situationOf } from "./situation.ts";
import {
  claimEndpointGroup,
  deleteWorker,
  notifyEndpoints,
  type ClaimedGroup,
  type EndpointGroup,
} from "../endpoints/store.ts";
import { offerSearch, offerView, readWish, type FoundOffer, type WishPorts } from "./wish-service.ts";
import { listWorkerGroups, setFailures, setUpdating } from "../worker-groups/store.ts";
import type { WorkerGroup } from "../worker-groups/worker-group.ts";
import { withinMaximum } from "../workers/worker-price.ts";
import { phaseOf } from "./worker-standing.ts";
import { listAvoided, listWorkers, setDecidedAt, updateWorker } from "../workers/store.ts";

export type DecisionPorts = WishPorts &
  HirePorts & {
    readonly decide: (situation: Situation) => Decision;
    readonly search: (query: Readonly<Record<string, unknown>>) => readonly FoundOffer[];
    readonly routers: Pick<Routers, "of">;
  };

/** Orders that follow from a decision; each is carried out in a transaction of its own. */
export type Order = {
  readonly kind: "start" | "stop" | "destroy" | "update";
  readonly workerId: InstanceId;
  readonly why: string;
};

export type DecisionOutcome =
  | { readonly kind: "busy" }
  | { readonly kind: "gone" }
  | {
      readonly kind: "decided";
      readonly endpoint: EndpointGroup;
      readonly orders: readonly Order[];
      readonly rented: number;
      /** True while work is under way or requests wait: the endpoint is to be looked at again soon. */
      readonly isRestless: boolean;
      readonly machineIds: readonly Hand["instance"]["machineId"][];
    };

const SAMPLES_MS = 3_600_000;
/** Samples of seconds younger than this are not final: any server may still add to them. */
const SAMPLES_OPEN_MS = 15_000;
const WISH_KEPT_MS = 60_000;
const GROUP_REST_MS = 60_000;
/**
 * How long found offers are kept: an endpoint that is looked at each second does not search each second. A rent
 * refuses offers that are gone by then.
 */
const FOUND_KEPT_MS = 3_000;

/**
 * Looks at an endpoint: records the present state of its workers, decides what it needs, rents, and marks the workers
 * that take no more requests. One server at a time does this; the remaining orders are returned.
 */
export async function decideOnEndpoint(
  tx: Tx,
  {
    id,
    memory,
    rules,
  }: { readonly id: EndpointGroup["id"]; readonly memory: EndpointMemory; readonly rules: ReviewRules },
  ports: DecisionPorts,
): Promise<DecisionOutcome> {
  const endpoint = await claimEndpointGroup(tx, id);
  if (endpoint === "busy" || endpoint === "gone") return { kind: endpoint };
  const found = await takeStock(tx, endpoint, rules);
  const { review } = found;
  await learn(tx, { endpoint, groups: found.groups, hands: review.hands, memory }, ports);
  const groups = await settleMaxima(tx, { groups: found.groups, memory }, ports.search);
  const router = ports.routers.of(id);
  const avoided = await listAvoided(
    tx.db,
    groups.map((group) => group.id),
    tx.now,
  );
  let offers: readonly OfferView[] = [];
  const situation = situationOf({
    nowMs: tx.now.getTime(),
    endpoint,
    groups,
    hands: review.hands,
    dlperfOf: ({ worker }) => memory.dlperf.get(worker.instanceId) ?? 0,
    samples: memory.samples,
    traffic: {
      loadOf: (workerId) => router?.loadOf(workerId) ?? { load: 0, requestCount: 0 },
      queue: router?.queue() ?? { requestCount: 0, load: 0, oldestMs: undefined },
    },
    spendingStop: memory.spendingStopAt(tx.now.getTime()),
    findOffers: () => (offers = findOffers(groups, { avoided, memory, nowMs: tx.now.getTime() }, ports)),
  });
  const decision = explainRegistries(ports.decide(situation), groups, { memory, search: ports.search });
  const actions = decision.actions.filter(
    (action) => action.kind === "rent" || !memory.restingWorkers.has(action.workerId, tx.now.getTime()),
  );
  await noteFleet(tx, situation, memory);
  const isMoved = await changeDrains(tx, actions, review.hands);
  const rents = actions.filter((action): action is Rent => action.kind === "rent");
  const hires = await hire(tx, { endpoint, rents, offers, memory }, ports);
  await notePriceWaits(tx, { endpoint, groups, offers, decision, memory });
  const sentence = `${decision.sentence}${shortfall(rents.length, hires.length)}`;
  await recordDecision(tx, { endpoint, decision: { ...decision, sentence }, actions, memory });
  if (isMoved || found.isChanged || hires.length > 0) await notifyEndpoints(tx, [id]);
  return {
    kind: "decided",
    endpoint,
    orders: actions.flatMap((action) => toOrder(action) ?? []),
    rented: hires.length,
    isRestless: hires.length > 0 || actions.length > 0 || isRestless(situation, tx.now.getTime()),
    machineIds: review.hands.map(({ instance }) => instance.machineId),
  };
}

/** Stores the workers by state for the history of the endpoint, when they changed. */
async function noteFleet(tx: Tx, situation: Situation, memory: EndpointMemory): Promise<void> {
  const [fleet, atMs] = [fleetOf(situation), tx.now.getTime()];
  if (!isWorthStoring(fleet, memory.fleet, atMs)) return;
  await insertFleet(tx, situation.endpointId, fleet);
  memory.fleet = { fleet, atMs };
}

/** The sentence about workers that a decision wanted and did not get: somebody else was first, or renting is paused. */
function shortfall(wanted: number, got: number): string {
  if (got === wanted) return "";
  if (got === 0) return wanted === 1 ? " But it could not be rented." : " But none of them could be rented.";
  return ` But ${wanted - got} of ${wanted} could not be rented.`;
}

type Stock = { readonly review: Review; readonly groups: readonly WorkerGroup[]; readonly isChanged: boolean };

/** Reads the fleet, and stores what the review found. Workers are written in id order, as everywhere. */
async function takeStock(tx: Tx, endpoint: EndpointGroup, rules: ReviewRules): Promise<Stock> {
  const [groups, workers] = [await listWorkerGroups(tx.db, endpoint.id), await listWorkers(tx.db, endpoint.id)];
  const instances = await listInstanceFacts(
    tx.db,
    workers.map((worker) => worker.instanceId),
  );
  const review = reviewFleet(workers, instances, groups, rules);
  const { findings, failures, recovered, updated } = review;
  const steps = [
    ...findings.map((finding) => ({ worker: finding.worker, run: () => writeFinding(tx, finding) })),
    ...failures.map(({ worker, failure }) => ({ worker, run: () => failWorker(tx, worker, failure) })),
  ];
  for (const { run } of steps.toSorted((a, b) => a.worker.instanceId - b.worker.instanceId)) await run();
  for (const groupId of recovered) await setFailures(tx, groupId, { failureCount: 0, resumesAt: undefined });
  for (const groupId of updated) {
    await setUpdating(tx, groupId, false);
    const sentence = `All workers of worker group ${groupId} have its present recipe.`;
    await recordEvents(tx, [
      { endpointGroupId: endpoint.id, workerGroupId: groupId, kind: "change", level: 0, sentence },
    ]);
  }
  const areGroupsChanged = failures.length + recovered.length + updated.length > 0;
  return {
    review,
    groups: areGroupsChanged ? await listWorkerGroups(tx.db, endpoint.id) : groups,
    isChanged: areGroupsChanged || findings.length > 0,
  };
}

async function writeFinding(tx: Tx, { worker, change, sentence }: Review["findings"][number]): Promise<void> {
  const { instanceId, endpointGroupId, workerGroupId } = worker;
  if (change === "gone") await deleteWorker(tx, instanceId);
  else await updateWorker(tx, instanceId, change);
  if (sentence === "") return;
  await recordEvents(tx, [{ endpointGroupId, workerGroupId, instanceId, kind: "worker", level: 0, sentence }]);
}

type Subject = {
  readonly endpoint: ClaimedGroup;
  readonly groups: readonly WorkerGroup[];
  readonly hands: readonly Hand[];
  readonly memory: EndpointMemory;
};

/** Reads the facts that changed since they were read last. */
async function learn(tx: Tx, { endpoint, groups, hands, memory }: Subject, ports: DecisionPorts): Promise<void> {
  const nowMs = tx.now.getTime();
  memory.samples = await readSamples(tx, endpoint.id, memory.samples);
  const decidedAtMs = endpoint.decidedAt?.getTime();
  if (memory.reason === undefined || memory.decidedAtMs !== decidedAtMs) {
    // Another server may have decided since.
    memory.reason = await findLastReason(tx.db, endpoint.id);
    memory.decidedAtMs = decidedAtMs;
  }
  await learnSpeeds(tx, hands, memory);
  memory.keepGroups(new Set(groups.map(({ id }) => id)));
  if (endpoint.state !== "active") return;
  for (const group of groups) {
    const known = memory.wishes.get(group.id);
    const isSame = known?.generation === group.generation && known.searchParams === group.searchParams;
    if ((isSame && nowMs - known.readAtMs < WISH_KEPT_MS) || memory.restingGroups.has(group.id, nowMs)) continue;
    memory.found.delete(group.id);
    const wish = await readWish(tx.db, group, ports, nowMs);
    if (!(wish instanceof AppError)) {
      memory.wishes.set(group.id, wish);
      memory.refusals.delete(group.id);
      continue;
    }
    memory.wishes.delete(group.id);
    memory.restingGroups.add(group.id, { nowMs, forMs: GROUP_REST_MS });
    if (memory.refusals.get(group.id) === wish.publicMessage) continue;
    tx.afterCommit(() => memory.refusals.set(group.id, wish.publicMessage));
    const sentence = `Worker group ${group.id} cannot be rented for: ${wish.publicMessage}`;
    const about = { endpointGroupId: endpoint.id, workerGroupId: group.id, kind: "worker" as const };
    await recordEvents(tx, [{ ...about, level: 0, sentence, detail: { code: wish.code } }]);
  }
}

/** Reads only the end of the hour again, as the rest is known. */
async function readSamples(
  tx: Tx,
  id: EndpointGroup["id"],
  known: readonly LoadSample[],
): Promise<readonly LoadSample[]> {
  const nowMs = tx.now.getTime();
  const newestMs = known.at(-1)?.secondMs ?? 0;
  const fromMs = Math.max(nowMs - SAMPLES_MS, newestMs - SAMPLES_OPEN_MS);
  const fresh = await listSamples(tx.db, id, new Date(fromMs));
  return [...known.filter(({ secondMs }) => secondMs < fromMs && secondMs >= nowMs - SAMPLES_MS), ...fresh];
}

async function learnSpeeds(tx: Tx, hands: readonly Hand[], { dlperf }: EndpointMemory): Promise<void> {
  const ids = new Set(hands.map(({ worker }) => worker.instanceId));
  for (const id of dlperf.keys()) if (!ids.has(id)) dlperf.delete(id);
  const unknown: InstanceId[] = [...ids].filter((id) => !dlperf.has(id));
  if (unknown.length === 0) return;
  for (const [id, site] of await listSites(tx.db, unknown)) dlperf.set(id, site.dlperf);
}

function findOffers(
  groups: readonly WorkerGroup[],
  known: {
    readonly avoided: ReadonlyMap<WorkerGroupId, ReadonlySet<Hand["instance"]["machineId"]>>;
    readonly memory: EndpointMemory;
    readonly nowMs: number;
  },
  { search }: DecisionPorts,
): readonly OfferView[] {
  const { avoided, memory, nowMs } = known;
  return groups.flatMap((group) => {
    const wish = memory.wishes.get(group.id);
    const { maxNanosPerHour } = group;
    const isAble = wish !== undefined && maxNanosPerHour !== undefined;
    if (!isAble || memory.restingGroups.has(group.id, nowMs)) return [];
    const found = memory.found.get(group.id);
    const isFresh = found !== undefined && found.untilMs > nowMs;
    const offers = isFresh
      ? found.offers
      : allowedOffers(
          searchWithin(search, wish, maxNanosPerHour).flatMap((offer) => offerView(group.id, wish, offer)),
          wish.machinesFor,
        );
    if (!isFresh) memory.found.set(group.id, { offers, untilMs: nowMs + FOUND_KEPT_MS });
    return offers.filter(({ machineId }) => {
      const isAvoided = avoided.get(group.id)?.has(machineId) ?? false;
      return !isAvoided && !memory.restingMachines.has(machineId, nowMs);
    });
  });
}

/** Offers within the maximum; when there are none, the cheapest above it, so that a decision can name the price. */
function searchWithin(
  search: DecisionPorts["search"],
  wish: Pick<GroupWish, "query" | "wish">,
  maxNanosPerHour: Nanos,
): readonly FoundOffer[] {
  const query = offerSearch(wish);
  const found = search(withinMaximum(query, maxNanosPerHour));
  return found.length > 0 ? found : search({ ...query, order: [["dph_total", "asc"]], limit: 1 });
}

/** Marks the workers that take no more requests, and those that take them again. Returns true if there was any. */
async function changeDrains(tx: Tx, actions: readonly Action[], hands: readonly Hand[]): Promise<boolean> {
  const byId = new Map(hands.map((hand) => [hand.worker.instanceId, hand]));
  const changes = actions.flatMap((action) => {
    if (action.kind !== "drain" && action.kind !== "undrain") return [];
    const hand = byId.get(action.workerId);
    return hand === undefined || phaseOf(hand.worker, hand.instance) !== "ready" ? [] : [{ action, hand }];
  });
  for (const { action, hand } of changes.toSorted((a, b) => a.action.workerId - b.action.workerId)) {
    const { instanceId, endpointGroupId, workerGroupId } = hand.worker;
    const draining = action.kind === "drain" ? { to: action.to, at: tx.now } : undefined;
    await updateWorker(tx, instanceId, { draining });
    const what = draining === undefined ? "takes requests again" : `takes no more requests, ${PURPOSE[draining.to]}`;
    const sentence = `Worker ${instanceId} ${what}: ${action.why}.`;
    await recordEvents(tx, [{ endpointGroupId, workerGroupId, instanceId, kind: "worker", level: 1, sentence }]);
  }
  return changes.length > 0;
}

const PURPOSE = {
  stop: "to be stopped",
  destroy: "to be destroyed",
  update: "to be updated",
} as const;

function toOrder(action: Action): Order | undefined {
  switch (action.kind) {
    case "start":
    case "stop":
    case "destroy":
    case "update":
      return { kind: action.kind, workerId: action.workerId, why: action.why };
    case "rent":
    case "drain":
    case "undrain":
      return undefined;
  }
}

/** Stores the decision if it gives orders or if the kind of situation has changed. */
async function recordDecision(
  tx: Tx,
  {
    endpoint,
    decision: { reason, sentence, targets },
    actions,
    memory,
  }: {
    readonly endpoint: EndpointGroup;
    readonly decision: Decision;
    readonly actions: readonly Action[];
    readonly memory: EndpointMemory;
  },
): Promise<void> {
  if (actions.length === 0 && reason === memory.reason) return;
  const event: NewEndpointEvent = {
    endpointGroupId: endpoint.id,
    kind: "decision",
    level: 0,
    sentence,
    detail: { reason, targets, actions },
  };
  await recordEvents(tx, [event]);
  await setDecidedAt(tx, endpoint.id);
  tx.afterCommit(() => {
    memory.reason = reason;
    memory.decidedAtMs = tx.now.getTime();
  });
}

const RECENT_MS = 60_000;

function isRestless({ workers, samples, queue }: Situation, nowMs: number): boolean {
  const isMoving = workers.some(
    ({ phase, draining }) => draining !== undefined || (phase !== "ready" && phase !== "stopped"),
  );
  const lastMs = samples.at(-1)?.secondMs ?? Number.NEGATIVE_INFINITY;
  return isMoving || queue.requestCount > 0 || nowMs - lastMs < RECENT_MS;
}
