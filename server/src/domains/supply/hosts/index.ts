export { addressChallenger } from "./address-proof-service.ts";
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
export { AgentPasses, type PublishedAddresses } from "./agent-passes.ts";
export type { Inventory, ReceivedReport, UnstoredCounters } from "./agent-session.ts";
export type { GpuUse } from "./rules/gpu-report.ts";
export { certainUntil, coveredParts, joinIntervals, lengthMs, type Interval, type Span } from "./rules/coverage.ts";
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
export type { Machine, MachineDescription, ScheduledMachine } from "./rules/machine.ts";
export {
  announceTunnel,
  findConnection,
  findConnectionNamed,
  findProvenPlace,
  listConnectedFrom,
  TUNNELS_CHANNEL,
} from "./connection-store.ts";
export { findSharedAddresses } from "./shared-addresses.ts";
export { confirmProof } from "./proof-store.ts";
export { restartPresence } from "./presence-store.ts";
export { SESSIONS_CHANNEL } from "./session-channel-store.ts";
export {
  disconnectServers,
  disconnectUnowned,
  listMistakenConnections,
  reclaimConnections,
  takeBackConnections,
  type OpenConnections,
} from "./server-end-store.ts";
export { registerMachine } from "./registration.ts";
export type { Arrival } from "./registration-store.ts";
export {
  findAllowedMachines,
  findBarredImages,
  requireReachableRegistry,
  requireRegistryOn,
  type AllowedMachines,
} from "./registry-service.ts";
export { hostRoutes } from "./routes.ts";
export { usualNanosPerHour } from "./rules/gpu-prices.ts";
export { USUAL_CORE_NANOS_PER_HOUR, USUAL_DISK_NANOS_PER_GB_MONTH } from "./rules/listing.ts";
export { MARKET_CHANNEL, notifyMachines, notifyMarket } from "./market-channel-store.ts";
export { hashToken, issueAgentToken, LEASE_MS, leaseEnd } from "./service.ts";
export {
  describeMachines,
  findCredentials,
  findCredentialsById,
  listMachines,
  listMachinesWithExpiredLease,
  listScheduledMachines,
  lockHeardMachines,
  lockMachines,
  markDisconnected,
  touchMachines,
  type Departure,
  type HeardMachine,
  type Registration,
} from "./store.ts";
export { recordBegunStarts, recordFailedStarts, recordUnansweredStarts, type FailedStart } from "./start-service.ts";
export { listGpuModels } from "./hardware-store.ts";
export { listHostIds } from "./owner-store.ts";
export { listLines, listSpans, type Line, type MachineSpans } from "./span-store.ts";
export { listRestReasons } from "./start-store.ts";
export { findHostStanding, listGpuMachines, type GpuMachine } from "./supply-store.ts";
export { takeEndingListings, takeLostMachines, takeReturnedMachines, type ToldMachine } from "./told-store.ts";
export { trustRoutes } from "./trust-routes.ts";
export { listOperated } from "./trust-store.ts";
export { proofMaker, type ProofMaker } from "./rules/session-proof.ts";
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
export { findNonsense, senselessFacts } from "./fact-sense.ts";
export { listHostDoubts } from "./doubt-store.ts";
export { flagRoutes } from "./flag-routes.ts";
export { listLinesToMeasure } from "./line-probe-store.ts";
export { storeLineProbe } from "./line-probe-service.ts";
export { flagHost, flagSenseless } from "./flag-service.ts";
export { listDearMachines, lowerMachinePrices, readPriceCeilings, setPriceCeilings } from "./price-ceiling-store.ts";
export { countMachinesOf, listListedMachinesOf } from "./belongings-store.ts";
