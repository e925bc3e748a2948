import { asId, type InstanceId, type MachineId, type WorkerGroupId } from "../../../base/ids.ts";
import { invariant } from "../../../base/invariant.ts";
import type { DrainTo, WorkerPhase, WorkerView } from "../autoscaling/rules/types.ts";
import type { WorkerModel } from "./types.ts";

export const GROUP_ID = asId<WorkerGroupId>(1);
export const MS_PER_HOUR = 3_600_000;

/** A worker with its running and waiting requests, by their index among the arrivals. */
export type SimulatedWorker = {
  readonly id: InstanceId;
  readonly machineId: MachineId;
  readonly rentedAtMs: number;
  phase: WorkerPhase;
  phaseSinceMs: number;
  orderedAtMs: number;
  warmStartMs: number | undefined;
  isMeasured: boolean;
  draining: { readonly to: DrainTo; readonly sinceMs: number } | undefined;
  runningCount: number;
  readonly waiting: number[];
  load: number;
  requestCount: number;
  activeAtMs: number | undefined;
};

/** The workers of a simulated endpoint, with their costs and start times. */
export class SimulatedWorkers {
  readonly all = new Map<InstanceId, SimulatedWorker>();
  runningMs = 0;
  stoppedMs = 0;
  readonly #model: WorkerModel;
  readonly #countedFromMs: number;
  #lastId = 0;
  #firstStartCount = 0;
  #warmStartCount = 0;

  constructor(model: WorkerModel, countedFromMs: number) {
    this.#model = model;
    this.#countedFromMs = countedFromMs;
  }

  add(phase: WorkerPhase, nowMs: number): SimulatedWorker {
    this.#lastId += 1;
    const worker: SimulatedWorker = {
      ...{ id: asId<InstanceId>(this.#lastId), machineId: asId<MachineId>(this.#lastId), rentedAtMs: nowMs },
      ...{ phase, phaseSinceMs: nowMs, orderedAtMs: nowMs, warmStartMs: undefined, draining: undefined },
      ...{ isMeasured: phase === "ready" || phase === "stopped", runningCount: 0, waiting: [] },
      ...{ load: 0, requestCount: 0, activeAtMs: undefined },
    };
    this.all.set(worker.id, worker);
    return worker;
  }

  require(id: InstanceId): SimulatedWorker {
    const worker = this.all.get(id);
    invariant(worker !== undefined, "a simulated worker that gets an order exists");
    return worker;
  }

  change(worker: SimulatedWorker, phase: WorkerPhase, nowMs: number): void {
    this.#bill(worker, nowMs);
    worker.phase = phase;
    worker.phaseSinceMs = nowMs;
  }

  remove(worker: SimulatedWorker, nowMs: number): void {
    this.#bill(worker, nowMs);
    this.all.delete(worker.id);
  }

  billAll(nowMs: number): void {
    for (const worker of this.all.values()) this.change(worker, worker.phase, nowMs);
  }

  nextStartMs(kind: "first" | "warm"): number {
    const times = kind === "first" ? this.#model.firstStartsMs : this.#model.warmStartsMs;
    const turn = kind === "first" ? this.#firstStartCount++ : this.#warmStartCount++;
    const time = times[turn % Math.max(1, times.length)];
    invariant(time !== undefined, "a model of workers has start times");
    return time;
  }

  /** The number of workers that are ready or starting. */
  countHot(): number {
    let count = 0;
    for (const { phase, draining } of this.all.values()) {
      const isHot = phase === "ready" || phase === "starting" || phase === "loading";
      if (isHot && draining === undefined) count += 1;
    }
    return count;
  }

  view(worker: SimulatedWorker): WorkerView {
    const { id, machineId, phase, phaseSinceMs, rentedAtMs, load, requestCount, activeAtMs, draining } = worker;
    const { perf, priceNanosPerHour, coldPriceNanosPerHour } = this.#model;
    return {
      ...{ id, groupId: GROUP_ID, machineId, phase, phaseSinceMs, rentedAtMs },
      ...{ claimedPerf: worker.isMeasured ? perf : undefined, observedPerf: undefined, dlperf: perf },
      ...{ priceNanosPerHour, coldPriceNanosPerHour, load, requestCount, activeAtMs },
      ...{ warmStartMs: worker.warmStartMs, draining, isOutdated: false, failure: "" },
    };
  }

  #bill({ phase, phaseSinceMs }: SimulatedWorker, nowMs: number): void {
    const lastedMs = Math.max(0, nowMs - Math.max(phaseSinceMs, this.#countedFromMs));
    if (phase === "stopped") this.stoppedMs += lastedMs;
    else if (phase !== "ordered") this.runningMs += lastedMs;
  }
}
