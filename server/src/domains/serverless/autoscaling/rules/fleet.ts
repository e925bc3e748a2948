import { type PerfBook, readPerfs } from "./worker-perf.ts";
import type { GroupView, OfferView, Situation, WorkerView } from "./types.ts";

/** Workers by what they can still do for the endpoint. */
export type Fleet = {
  readonly perfs: PerfBook;
  readonly groups: ReadonlyMap<number, GroupView>;
  /** Workers that are ready and take requests. */
  readonly serving: readonly WorkerView[];
  /** Workers that will be ready without another order. */
  readonly coming: readonly WorkerView[];
  /** Workers that are stopped, and free to be started. */
  readonly parked: readonly WorkerView[];
  /** Workers that are still ready and drain to be stopped: they can take requests again at once. */
  readonly retrievable: readonly WorkerView[];
  readonly failed: readonly WorkerView[];
  /** Workers that stay with the endpoint: all but failed ones and those that drain to be destroyed. */
  readonly staying: readonly WorkerView[];
  readonly isMeasured: boolean;
};

export function readFleet({ workers, groups }: Pick<Situation, "workers" | "groups">): Fleet {
  const perfs = readPerfs(workers);
  const stays = ({ phase, draining }: WorkerView) => phase !== "failed" && draining?.to !== "destroy";
  const isFree = ({ draining }: WorkerView) => draining === undefined;
  const isComing = ({ phase }: WorkerView) => phase === "ordered" || phase === "loading" || phase === "starting";
  return {
    perfs,
    groups: new Map(groups.map((group) => [group.id, group])),
    serving: workers.filter((worker) => worker.phase === "ready" && isFree(worker)),
    coming: workers.filter((worker) => isComing(worker) && isFree(worker)),
    parked: workers.filter((worker) => worker.phase === "stopped" && isFree(worker)),
    retrievable: workers.filter((worker) => worker.phase === "ready" && worker.draining?.to === "stop"),
    failed: workers.filter(({ phase }) => phase === "failed"),
    staying: workers.filter(stays),
    isMeasured: workers.some((worker) => perfs.ofWorker(worker) !== undefined),
  };
}

/** True if every request that was sent to the worker is reported as done. */
export function isIdle(worker: WorkerView): boolean {
  return worker.requestCount === 0 && worker.load <= 0;
}

/** The performance that a worker is counted with: one without any measure is taken to be enough. */
export function countedPerf(fleet: Fleet, worker: WorkerView, enough: number): number {
  return fleet.perfs.ofWorker(worker) ?? enough;
}

export function sumPerf(fleet: Fleet, workers: readonly WorkerView[], enough: number): number {
  return workers.reduce((sum, worker) => sum + countedPerf(fleet, worker, enough), 0);
}

/**
 * Units a second that one nano-dollar an hour buys; free workers are worth most, and are compared by their
 * performance.
 */
export function valueOf(perf: number, priceNanosPerHour: bigint): number {
  return perf / Math.max(1, Number(priceNanosPerHour));
}

/** True if the offer costs more than a worker of its group may. */
export function isTooDear({ groups }: Pick<Fleet, "groups">, { groupId, priceNanosPerHour }: OfferView): boolean {
  const most = groups.get(groupId)?.maxNanosPerHour;
  return most !== undefined && priceNanosPerHour > most;
}
