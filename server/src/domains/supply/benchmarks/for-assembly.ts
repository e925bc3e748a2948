// Exports that only assembly uses.
export { benchmarkRoutes } from "./routes.ts";
export { storeUplinkBenchmarks } from "./service.ts";
