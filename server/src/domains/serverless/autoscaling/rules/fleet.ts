import { type PerfBook, readPerfs } from "./worker-perf.ts";
import type { GroupView, OfferView, Situation, WorkerView } from "./types.ts";

/** Workers by what they can still do for the endpoint. */
export type Fleet = {
  readonly perfs: PerfBook;
  readonly groups: ReadonlyMap<number, GroupView>;
  /** Ready and taking requests. */
  readonly serving: readonly WorkerView[];
  /** Will be ready without another order. */
  readonly coming: readonly WorkerView[];
  /** Stopped, and free to be started. */
  readonly parked: readonly WorkerView[];
  /** Still ready, and on their way to be stopped: they can take requests again at once. */
  readonly retrievable: readonly WorkerView[];
  readonly failed: readonly WorkerView[];
  /** Those that stay with the endpoint: all but failed ones and those that drain to be destroyed. */
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

/** Without work: nothing was sent to it that is not reported as done. */
export function isIdle(worker: WorkerView): boolean {
  return worker.requestCount === 0 && worker.load <= 0;
}

/** What this worker is counted with: one that nobody can judge yet is taken to be enough. */
export function countedPerf(fleet: Fleet, worker: WorkerView, enough: number): number {
  return fleet.perfs.ofWorker(worker) ?? enough;
}

export function sumPerf(fleet: Fleet, workers: readonly WorkerView[], enough: number): number {
  return workers.reduce((sum, worker) => sum + countedPerf(fleet, worker, enough), 0);
}

/** Units a second that one nano-dollar an hour buys; free workers are worth most, and are compared by what they serve. */
export function valueOf(perf: number, priceNanosPerHour: bigint): number {
  return perf / Math.max(1, Number(priceNanosPerHour));
}

/** Whether the offer costs more than a worker of its group may. */
export function isTooDear({ groups }: Pick<Fleet, "groups">, { groupId, priceNanosPerHour }: OfferView): boolean {
  const most = groups.get(groupId)?.maxNanosPerHour;
  return most !== undefined && priceNanosPerHour > most;
}
