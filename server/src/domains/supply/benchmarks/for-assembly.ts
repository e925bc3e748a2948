// Exports that only assembly uses.
export { benchmarkRoutes } from "./routes.ts";
export { storeCheckedBenchmarks } from "./service.ts";
