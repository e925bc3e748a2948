// Exports that only audit uses.
export { listSpentTraffic } from "./traffic/traffic-store.ts";
export {
  listAuditedPhases,
  listAuditedRuns,
  listAuditedTerms,
  listCounted,
  listInstancesSince,
  type AuditedPhase,
  type AuditedRun,
  type AuditedTerms,
  type CountedRun,
} from "./audit-store.ts";
export { listAuditedFaults } from "./evidence/fault-audit-store.ts";
export { HOLDING_PHASES } from "./lifecycle/rules/lifecycle.ts";
