import { isDeepStrictEqual } from "node:util";
import type { Nanos } from "../../../base/money.ts";
import { decide } from "../autoscaling/rules/decide.ts";
import type { Parameters } from "../endpoints/rules/parameters.ts";
import { arrivalsOf } from "./arrivals.ts";
import { simulateTraffic } from "./simulate-traffic.ts";
import type { Arrival, TrafficResult, WorkerModel } from "./types.ts";

export type TrialParameters = Omit<Parameters, "name">;

/** Traffic as flat arrays of numbers, which can be transferred to another thread without a copy of each. */
export type TrialTraffic =
  /** By the second: its beginning in Unix seconds, its number of requests, and their total load. */
  | { readonly kind: "seconds"; readonly fromMs: number; readonly rows: readonly Float64Array<ArrayBuffer>[] }
  /** By request: milliseconds of the simulation, and load. */
  | { readonly kind: "requests"; readonly rows: readonly Float64Array<ArrayBuffer>[] };

/** The compared parameters and their traffic, as plain data that is sent to another thread. */
export type Trial = {
  readonly traffic: TrialTraffic;
  readonly present: TrialParameters;
  readonly proposed: TrialParameters;
  readonly model: WorkerModel;
  readonly countedFromMs: number;
  readonly untilMs: number;
  readonly intervalMs: number;
};

export type TrialFigures = {
  readonly requestCount: number;
  readonly unservedCount: number;
  readonly lateShare: number;
  /** Infinite for a request that was never served. */
  readonly waitMs: TrafficResult["waitMs"];
  readonly hotHours: number;
  readonly coldHours: number;
  readonly costNanos: Nanos;
  readonly workerCountMax: number;
  readonly startCount: number;
  readonly stopCount: number;
  readonly flapCount: number;
};

export type TrialResult = { readonly present: TrialFigures; readonly proposed: TrialFigures };

/** Runs the same traffic under both parameters, with the engine and the router that serve real workers. */
export function runTrial(trial: Trial): TrialResult {
  const arrivals = readArrivals(trial.traffic);
  const present = simulate(trial, arrivals, trial.present);
  const isSame = isDeepStrictEqual(trial.present, trial.proposed);
  return { present, proposed: isSame ? present : simulate(trial, arrivals, trial.proposed) };
}

/** The number of workers that these parameters keep without traffic: the simulation begins with them. */
export function startOf(
  parameters: TrialParameters,
  { perf }: Pick<WorkerModel, "perf">,
): { readonly hotCount: number; readonly stoppedCount: number } {
  const { state, minLoad, minColdLoad, coldMult, coldWorkers, maxWorkers, inactivityTimeoutS = 0 } = parameters;
  const awake = minLoad > 0 ? Math.ceil(minLoad / perf) : Number(inactivityTimeoutS < 0);
  const hotCount = state === "stopped" ? 0 : Math.min(maxWorkers, awake);
  const kept = Math.ceil(Math.max(coldMult * minLoad, minColdLoad) / perf);
  const count = Math.max(hotCount, Math.min(maxWorkers, Math.max(coldWorkers, kept)));
  return { hotCount, stoppedCount: count - hotCount };
}

function readArrivals(traffic: TrialTraffic): readonly Arrival[] {
  const arrivals: Arrival[] = [];
  for (const rows of traffic.rows) {
    if (traffic.kind === "seconds") {
      for (let index = 0; index < rows.length; index += 3) {
        const [secondS = 0, requestCount = 0, load = 0] = rows.subarray(index, index + 3);
        arrivals.push(...arrivalsOf([{ secondMs: secondS * 1_000, requestCount, load }], traffic.fromMs));
      }
    } else {
      for (let index = 0; index < rows.length; index += 2) {
        const [atMs = 0, load = 0] = rows.subarray(index, index + 2);
        arrivals.push({ atMs, load });
      }
    }
  }
  return arrivals;
}

function simulate(trial: Trial, arrivals: readonly Arrival[], parameters: TrialParameters): TrialFigures {
  const { model, countedFromMs, untilMs, intervalMs } = trial;
  const result = simulateTraffic({
    ...{ arrivals, parameters, model, intervalMs, countedFromMs, untilMs, isWokenByPressure: true },
    ...startOf(parameters, model),
    policy: (situation) => decide(situation).actions,
  });
  const { requestCount, lateShare, waitMs, gpuHours, coldHours, costNanos, workerCountMax } = result;
  const { startCount, stopCount, flapCount, servedCounts } = result;
  const unservedCount = servedCounts.subarray(servedCounts.length - requestCount).filter((count) => count === 0).length;
  return {
    ...{ requestCount, unservedCount, lateShare, waitMs, hotHours: gpuHours, coldHours, costNanos },
    ...{ workerCountMax, startCount, stopCount, flapCount },
  };
}
