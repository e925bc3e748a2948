export { audit, type AuditReport } from "./audit-service.ts";
export { countFindings } from "./findings/finding-store.ts";
export { auditLoops } from "./loops.ts";
export { auditRoutes } from "./routes.ts";
