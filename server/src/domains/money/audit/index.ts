export { countFindings } from "./findings/finding-store.ts";
export { auditLoops } from "./loops.ts";
export { auditRoutes } from "./routes.ts";
