export { countFindings } from "./findings/finding-store.ts";
export { reconciliationLoops } from "./loops.ts";
export { reconciliationRoutes } from "./routes.ts";
