import type { Nanos } from "../../../base/money.ts";
import type { Action, Situation } from "../autoscaling/rules/types.ts";

/** A request: its arrival in milliseconds of the simulation, and its cost in units. */
export type Arrival = { readonly atMs: number; readonly load: number };

/** Scales the simulated endpoint; called at each interval. */
export type Policy = (situation: Situation) => readonly Action[];

/** The behaviour of workers. All are alike but for their start times, which are taken from the lists in turn. */
export type WorkerModel = {
  /** Units a second at full use, shared evenly by the requests that it does at the same time. */
  readonly perf: number;
  readonly parallelCount: number;
  readonly firstStartsMs: readonly number[];
  readonly warmStartsMs: readonly number[];
  readonly priceNanosPerHour: Nanos;
  /** The price while it is stopped. */
  readonly coldPriceNanosPerHour: Nanos;
};

export type TrafficSimulation = {
  readonly arrivals: readonly Arrival[];
  readonly parameters: Situation["parameters"];
  readonly model: WorkerModel;
  readonly policy: Policy;
  readonly intervalMs: number;
  /** True if the policy is also called at once when requests are held or come faster than they can be served. */
  readonly isWokenByPressure: boolean;
  readonly hotCount: number;
  readonly stoppedCount: number;
  /** Results count from then on, so that the initial learning of an endpoint can be left out. */
  readonly countedFromMs: number;
  /** The simulation runs and costs are counted until then, even without requests; absent: until the last request. */
  readonly untilMs?: number;
};

export type TrafficResult = {
  readonly requestCount: number;
  /** Share of the requests that waited for more than a second, from 0 to 1. */
  readonly lateShare: number;
  readonly waitMs: { readonly p50: number; readonly p95: number; readonly p99: number; readonly max: number };
  readonly gpuHours: number;
  /** Hours of stopped workers. */
  readonly coldHours: number;
  readonly costNanos: Nanos;
  readonly decisionCount: number;
  readonly actionCount: number;
  /** Workers that were rented or started; `stopCount` has those that were stopped or destroyed. */
  readonly startCount: number;
  readonly stopCount: number;
  /** Changes in the number of workers that were reverted within a minute. */
  readonly flapCount: number;
  readonly workerCountMax: number;
  /** How often each request was served, in order: once each. */
  readonly servedCounts: Uint8Array;
  /** Samples of each minute and of the end. */
  readonly timeline: readonly { readonly atMs: number; readonly hotCount: number; readonly totalCount: number }[];
};
