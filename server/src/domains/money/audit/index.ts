export { countFindings } from "./finding-store.ts";
export { reconciliationLoops } from "./loops.ts";
export { reconciliationRoutes } from "./routes.ts";
