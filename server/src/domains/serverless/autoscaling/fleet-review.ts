import type { WorkerGroupId } from "../../../base/ids.ts";
import type { InstanceFacts } from "../../rental/instances/for-serverless.ts";
import { median } from "./rules/worker-perf.ts";
import type { WorkerGroup } from "../worker-groups/worker-group.ts";
import { backOffMs, failureOf, isServing, type Failure, type WorkerFacts } from "./worker-standing.ts";
import type { WorkerChange } from "../workers/store.ts";

/** A worker beside its instance, after the findings of the review are stored. */
export type Hand = { readonly worker: WorkerFacts; readonly instance: InstanceFacts };

export type Finding = {
  readonly worker: WorkerFacts;
  /** The change that is stored of the worker; `gone` when its instance is gone. */
  readonly change: WorkerChange | "gone";
  /** The sentence for the renter; empty when there is nothing to report. */
  readonly sentence: string;
};

export type Review = {
  readonly hands: readonly Hand[];
  readonly findings: readonly Finding[];
  readonly failures: readonly { readonly worker: WorkerFacts; readonly failure: Failure }[];
  /** Groups whose workers start well again after failures. */
  readonly recovered: readonly WorkerGroupId[];
  /** Groups whose update is done: every worker has the present recipe. */
  readonly updated: readonly WorkerGroupId[];
};

export type ReviewRules = {
  readonly nowMs: number;
  /** The time from which this server could have heard a silent worker. */
  readonly listeningSinceMs: number;
};

/** A worker that was ready for this long proves that its group works. */
const PROVEN_MS = 60_000;

/** Compares the stored workers with the state of their instances, and finds those that failed. */
export function reviewFleet(
  workers: readonly WorkerFacts[],
  instances: ReadonlyMap<number, InstanceFacts>,
  groups: readonly WorkerGroup[],
  rules: ReviewRules,
): Review {
  const findings: Finding[] = [];
  const present: Hand[] = [];
  for (const worker of workers) {
    const instance = instances.get(worker.instanceId);
    if (instance === undefined || instance.phase === "ending" || instance.phase === "ended") {
      findings.push({ worker, change: "gone", sentence: `Worker ${worker.instanceId} was destroyed by others.` });
      continue;
    }
    const { change, sentence } = correctionOf(worker, instance);
    if (Object.keys(change).length > 0) findings.push({ worker, change, sentence });
    present.push({ worker: { ...worker, ...change }, instance });
  }
  const starts = knownStarts(present);
  const failures = present.flatMap(({ worker, instance }) => {
    const known = starts.get(worker.workerGroupId);
    const knownStartMs = worker.firstStartMs === undefined ? known?.firstMs : known?.warmMs;
    const failure = failureOf(worker, instance, { ...rules, knownStartMs });
    return failure === undefined ? [] : [{ worker, failure }];
  });
  const reasons = new Map(failures.map(({ worker, failure }) => [worker.instanceId, failure.reason]));
  const failedAt = new Date(rules.nowMs);
  const hands = present.map(({ worker, instance }) => {
    const failure = reasons.get(worker.instanceId);
    if (failure === undefined) return { worker, instance };
    return { worker: { ...worker, failure, failedAt, readyAt: undefined, draining: undefined }, instance };
  });
  const failing = new Set(failures.map(({ worker }) => worker.workerGroupId));
  return {
    hands,
    findings,
    failures,
    recovered: groups.flatMap((group) => (!failing.has(group.id) && isRecovered(group, hands, rules) ? group.id : [])),
    updated: groups.flatMap((group) => (group.isUpdating && !hasOutdated(group, hands) ? group.id : [])),
  };
}

type Correction = { readonly change: WorkerChange; readonly sentence: string };

function correctionOf(worker: WorkerFacts, instance: InstanceFacts): Correction {
  const isWanted = instance.desired === "running";
  const isLost =
    worker.readyAt !== undefined && worker.failure === "" && !isServing({ ...worker, url: "known" }, instance);
  const begun = !isWanted ? undefined : isLost ? instance.phaseSinceAt : (worker.startedAt ?? instance.phaseSinceAt);
  const start = begun?.getTime() === worker.startedAt?.getTime() ? {} : { startedAt: begun };
  if (!isLost) return { change: start, sentence: "" };
  const isParked = !isWanted && worker.draining?.to === "stop";
  const change = {
    ...start,
    readyAt: undefined,
    readyGeneration: undefined,
    currentLoad: 0,
    workingCount: 0,
    ...(isParked ? { draining: undefined } : {}),
  };
  return { change, sentence: `Worker ${worker.instanceId} ${lossOf(instance)}.` };
}

/** The reason why a ready worker left service without an order of the autoscaler. */
function lossOf({ desired, phase }: InstanceFacts): string {
  if (desired === "stopped") return "was stopped by others: by its owner, or because nothing is left to pay it";
  switch (phase) {
    case "yielding":
      return "has to leave its devices to a higher claim";
    case "scheduled":
    case "stopping":
    case "stopped":
      return "lost its devices to a higher claim and waits for them";
    case "starting":
    case "running":
    case "ending":
    case "ended":
      return "was restarted and has to say again that it is ready";
  }
}

export type KnownStarts = { readonly firstMs: number | undefined; readonly warmMs: number | undefined };

/** Median start times of each group, from its workers. */
export function knownStarts(hands: readonly Hand[]): ReadonlyMap<WorkerGroupId | undefined, KnownStarts> {
  const groups = Map.groupBy(hands, ({ worker }) => worker.workerGroupId);
  return new Map(
    [...groups].map(([id, own]) => [
      id,
      {
        firstMs: median(own.flatMap(({ worker }) => worker.firstStartMs ?? [])),
        warmMs: median(own.flatMap(({ worker }) => worker.warmStartMs ?? [])),
      },
    ]),
  );
}

/** True if a worker became ready after the last failure and stayed ready: one that breaks at once proves nothing. */
function isRecovered(group: WorkerGroup, hands: readonly Hand[], { nowMs }: ReviewRules): boolean {
  const { failureCount, resumesAt } = group;
  if (failureCount === 0) return false;
  const failedAtMs = resumesAt === undefined ? 0 : resumesAt.getTime() - backOffMs(failureCount);
  return hands.some(({ worker, instance }) => {
    const readyAtMs = worker.readyAt?.getTime();
    const isOwn = worker.workerGroupId === group.id && worker.failure === "" && isServing(worker, instance);
    return isOwn && readyAtMs !== undefined && readyAtMs > failedAtMs && nowMs - readyAtMs >= PROVEN_MS;
  });
}

function hasOutdated(group: WorkerGroup, hands: readonly Hand[]): boolean {
  return hands.some(
    ({ worker }) => worker.workerGroupId === group.id && worker.failure === "" && worker.generation < group.generation,
  );
}
