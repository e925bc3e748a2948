// Exports that only serverless uses.
export { storeWorkerBenchmarks, type MeasuredWorker } from "./service.ts";
