// Exports that only charging uses.
export { listInstanceIdsOfScope } from "./cap-scope-store.ts";
export type { StartEvidence } from "./evidence/start-evidence.ts";
export type { RunKey } from "./counting/run-store.ts";
export { periodsOf, segmentsOf, type Counter, type Terms, type TermsHistory } from "./rules/terms-history.ts";
export { listPastTerms } from "./rentals/terms-store.ts";
export type { DesiredState, Phase } from "./lifecycle/rules/lifecycle.ts";
export { hasEnded, needsHold } from "./rentals/rental-sql-store.ts";
export { stopUnpaid } from "./charging-service.ts";
export { stopFlooded } from "./traffic/traffic-service.ts";
export { trafficLeft } from "./traffic/rules/traffic-budget.ts";
export { listTrafficAccounts, noteTraffic, type TrafficUse } from "./traffic/traffic-store.ts";
export { closeFaults, listOpenFaults, type OpenFault } from "./lifecycle/host-fault-store.ts";
export { holdAmount, trafficAllowance } from "./rules/pricing.ts";
