export type { Benchmark } from "./benchmark.ts";
export { systemClock, type Clock } from "./clock.ts";
export type { CalculateLoad } from "./request-desk.ts";
export { startWorker, type RunningWorker, type WorkerOptions } from "./worker.ts";
