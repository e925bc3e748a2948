export { admitAll, noticeClone } from "./admission.ts";
export { AgentGateway, type AgentPorts, type LastWord } from "./agent-gateway.ts";
export {
  countConnectedGpus,
  countGpuFailures,
  countGpus,
  listDeviceProblems,
  updateHealth,
  type ReportedHealth,
} from "./device-store.ts";
export type { Inventory, ReceivedReport, UnstoredCounters } from "./agent-session.ts";
export type { GpuUse } from "./gpu-report.ts";
export { certainUntil, coveredParts, joinIntervals, lengthMs, type Interval, type Span } from "./coverage.ts";
export { listFreeDiskBytes } from "./disk-store.ts";
export { isWithdrawn, listRevoked, REVOKED_CHANNEL } from "./join-store.ts";
export { listRollingMachines, rollListingEnds } from "./listing-end-store.ts";
export { hostLoops } from "./loops.ts";
export {
  cancelMaintenances,
  insertMaintenance,
  listMaintenances,
  MAINTENANCE_CATEGORIES,
  type Maintenance,
  type MaintenanceCategory,
} from "./maintenance-store.ts";
export type { Machine, MachineDescription, ScheduledMachine } from "./machine.ts";
export { confirmProof } from "./proof-store.ts";
export { restartPresence } from "./presence-store.ts";
export { registerMachine } from "./registration.ts";
export type { Arrival } from "./registration-store.ts";
export { hostRoutes } from "./routes.ts";
export { MARKET_CHANNEL, notifyMachines, notifyMarket } from "./market-channel-store.ts";
export { hashToken, issueAgentToken, LEASE_MS, leaseEnd } from "./service.ts";
export {
  describeMachines,
  disconnectAll,
  findCredentials,
  listMachines,
  listMachinesWithExpiredLease,
  listScheduledMachines,
  lockMachines,
  markDisconnected,
  touchMachines,
  type Departure,
  type HeardMachine,
} from "./store.ts";
export { recordBegunStarts, recordFailedStarts, recordUnansweredStarts, type FailedStart } from "./start-service.ts";
export { listHostIds } from "./owner-store.ts";
export { listLines, listSpans, type Line, type MachineSpans } from "./span-store.ts";
export { listRestReasons } from "./start-store.ts";
export { findHostStanding, listGpuMachines, type GpuMachine } from "./supply-store.ts";
export { takeEndingListings, takeLostMachines, takeReturnedMachines, type ToldMachine } from "./told-store.ts";
export { trustRoutes } from "./trust-routes.ts";
export { listOperated } from "./trust-store.ts";
export { proofMaker, type ProofMaker } from "./session-proof.ts";
export {
  DELETED_CHANNEL,
  listHosted,
  listMachineUnder,
  markMachineDeleted,
  setMinBid,
  unlistMachine,
  type HostedMachine,
  type Terms,
} from "./terms-store.ts";
export { listAuditedMachines, type AuditedMachine } from "./audit-store.ts";
export { countMachinesOf } from "./belongings-store.ts";
