import type { Nanos } from "../../../base/money.ts";
import type { Action, Situation } from "../autoscaling/rules/types.ts";

/** A request: when it comes, in milliseconds of the simulation, and its cost in units. */
export type Arrival = { readonly atMs: number; readonly load: number };

/** What scales the simulated endpoint; asked at each interval. */
export type Policy = (situation: Situation) => readonly Action[];

/** How workers behave. All are alike but for their start times, which are taken from the lists in turn. */
export type WorkerModel = {
  /** Units a second when it is full, shared evenly by the requests that it does at the same time. */
  readonly perf: number;
  readonly parallelCount: number;
  readonly firstStartsMs: readonly number[];
  readonly warmStartsMs: readonly number[];
  readonly priceNanosPerHour: Nanos;
  /** While it is stopped. */
  readonly coldPriceNanosPerHour: Nanos;
};

export type TrafficSimulation = {
  readonly arrivals: readonly Arrival[];
  readonly parameters: Situation["parameters"];
  readonly model: WorkerModel;
  readonly policy: Policy;
  readonly intervalMs: number;
  /** Asked also at once, when requests are held or come faster than they can be served. */
  readonly isWokenByPressure: boolean;
  readonly hotCount: number;
  readonly stoppedCount: number;
  /** Nothing before this is counted, so that what an endpoint needs to learn first can be left out. */
  readonly countedFromMs: number;
  /** Time is played and paid to then, whether requests come or not; absent: to the last request. */
  readonly untilMs?: number;
};

export type TrafficResult = {
  readonly requestCount: number;
  /** Requests that waited for more than a second. */
  readonly lateShare: number;
  readonly waitMs: { readonly p50: number; readonly p95: number; readonly p99: number; readonly max: number };
  readonly gpuHours: number;
  /** Of stopped workers. */
  readonly coldHours: number;
  readonly costNanos: Nanos;
  readonly decisionCount: number;
  readonly actionCount: number;
  /** Workers that were rented or started, and that were stopped or destroyed. */
  readonly startCount: number;
  readonly stopCount: number;
  /** Changes in number of workers that were taken back within a minute. */
  readonly flapCount: number;
  readonly workerCountMax: number;
  /** How often each request was served, in order: once each. */
  readonly servedCounts: Uint8Array;
  /** Every minute and in the end. */
  readonly timeline: readonly { readonly atMs: number; readonly hotCount: number; readonly totalCount: number }[];
};
