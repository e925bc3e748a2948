export { addressChallenger } from "./addresses/address-proof-service.ts";
export { admitAll, recordClone } from "./sessions/admission.ts";
export { AgentGateway, type AgentPorts, type LastWord } from "./sessions/agent-gateway.ts";
export {
  countConnectedGpus,
  countGpuFailures,
  countGpus,
  listDeviceProblems,
  updateHealth,
  type ReportedHealth,
} from "./machines/device-store.ts";
export { AgentPasses, type PublishedAddresses } from "./sessions/agent-passes.ts";
export type { ReceivedReport } from "./sessions/agent-session.ts";
export type { Inventory, UnstoredCounters } from "./sessions/session-news.ts";
export type { GpuUse } from "./sessions/rules/gpu-report.ts";
export {
  certainUntil,
  coveredParts,
  joinIntervals,
  lengthMs,
  type Interval,
  type Span,
} from "./presence/rules/coverage.ts";
export { listFreeDiskBytes } from "./machines/disk-store.ts";
export { isWithdrawn, listRevoked, REVOKED_CHANNEL } from "./join/store.ts";
export { listRollingMachines, rollListingEnds } from "./terms/listing-end-store.ts";
export { hostLoops } from "./loops.ts";
export {
  cancelMaintenances,
  insertMaintenance,
  listMaintenances,
  MAINTENANCE_CATEGORIES,
  type Maintenance,
  type MaintenanceCategory,
} from "./trust/maintenance-store.ts";
export type { Machine, MachineDescription, ScheduledMachine } from "./machines/rules/machine.ts";
export {
  announceTunnel,
  findConnection,
  findConnectionNamed,
  findProvenPlace,
  listConnectedFrom,
  TUNNELS_CHANNEL,
} from "./sessions/connection-store.ts";
export { findSharedAddresses } from "./addresses/shared-addresses.ts";
export { confirmProof } from "./sessions/proof-store.ts";
export { restartPresence } from "./presence/presence-store.ts";
export { SESSIONS_CHANNEL } from "./sessions/session-channel-store.ts";
export {
  disconnectServers,
  disconnectUnowned,
  listMistakenConnections,
  reclaimConnections,
  takeBackConnections,
  type OpenConnections,
} from "./sessions/server-end-store.ts";
export { registerMachine } from "./join/registration.ts";
export type { Arrival } from "./join/registration-store.ts";
export {
  findAllowedMachines,
  findBarredImages,
  requireReachableRegistry,
  requireRegistryOn,
  type AllowedMachines,
} from "./registries/service.ts";
export { hostRoutes } from "./join/routes.ts";
export { usualNanosPerHour } from "./terms/rules/gpu-prices.ts";
export { USUAL_CORE_NANOS_PER_HOUR, USUAL_DISK_NANOS_PER_GB_MONTH } from "./terms/rules/listing.ts";
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
export {
  recordBegunStarts,
  recordFailedStarts,
  recordUnansweredStarts,
  type FailedStart,
} from "./starts/start-service.ts";
export { listGpuModels } from "./machines/hardware-store.ts";
export { listHostIds } from "./machines/owner-store.ts";
export { listUplinks, listSpans, type Uplink, type MachineSpans } from "./presence/span-store.ts";
export { listRestReasons } from "./starts/start-store.ts";
export { findHostRole, listGpuMachines, type GpuMachine } from "./machines/supply-store.ts";
export {
  takeEndingListings,
  takeLostMachines,
  takeReturnedMachines,
  type ToldMachine,
} from "./presence/change-store.ts";
export { trustRoutes } from "./trust/routes.ts";
export { listOperated } from "./trust/store.ts";
export { proofMaker, type ProofMaker } from "./sessions/rules/session-proof.ts";
export {
  DELETED_CHANNEL,
  listHosted,
  listMachineUnder,
  markMachineDeleted,
  setMinBid,
  unlistMachine,
  type HostedMachine,
  type Terms,
} from "./terms/terms-store.ts";
export { listAuditedMachines, type AuditedMachine } from "./audit-store.ts";
export { findNonsense, senselessFacts } from "./flags/fact-sense.ts";
export { listHostDoubts } from "./flags/doubt-store.ts";
export { flagRoutes } from "./flags/routes.ts";
export { listUplinksToMeasure } from "./uplinks/probe-store.ts";
export { storeUplinkProbe } from "./uplinks/probe-service.ts";
export { flagHost, flagSenseless } from "./flags/service.ts";
export {
  listDearMachines,
  lowerMachinePrices,
  readPriceCeilings,
  setPriceCeilings,
} from "./terms/price-ceiling-store.ts";
export { countMachinesOf, listListedMachinesOf } from "./machines/belongings-store.ts";
