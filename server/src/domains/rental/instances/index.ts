export { keepBackground, listOutOfStep, removeBackground } from "./background-service.ts";
export { findMachinesFor, type MachinesFor } from "./barred-images.ts";
export { takeEndingContracts } from "./contract-end-store.ts";
export { certificateRoutes } from "./certificate-routes.ts";
export { rootCertificate } from "./certificate-service.ts";
export { subjectOf } from "./certificates.ts";
export { storeLastCounters } from "./counting-service.ts";
export { followDevices } from "./device-health.ts";
export { createInstances } from "./create.ts";
export type { CreateOrder } from "./create-order.ts";
export { listInstanceIdsOfScope, listStoredInstances, type StoredInstance } from "./cap-scope-store.ts";
export { scopesOf } from "./cap-scopes.ts";
export { requireOwnInstance, requireOwnSpending, type Spender } from "./own-spending.ts";
export { loadDesired, loadDesiredSets } from "./desired.ts";
export { listInstanceCosts, listScopeCosts, NO_COST, type ScopeCost } from "./rate-store.ts";
export { listKept, listRenters } from "./renter-store.ts";
export { launchRoutes } from "./launch-routes.ts";
export { instanceLoops } from "./loops.ts";
export { GATHER_MS, ReportRecorder } from "./observe.ts";
export { instanceKeyMaker, OrderDesk, type Wish } from "./orders.ts";
export { listInstanceNames, type InstanceName } from "./name-store.ts";
export {
  listProxiedInstances,
  prepareProxyPorts,
  PROXY_PORTS_CHANNEL,
  type ProxiedInstance,
} from "./proxy-port-store.ts";
export { watchProxiedTraffic } from "./proxied-traffic-service.ts";
export { listUnreachedRuns, storeEvidence, type UnreachedRun } from "./evidence-store.ts";
export { countableMs, type StartEvidence } from "./start-evidence.ts";
export type { RunKey } from "./run-store.ts";
export { instanceRoutes } from "./routes.ts";
export { instanceTaskRoutes } from "./task-routes.ts";
export { CreateBody } from "./schema.ts";
export {
  destroyIfPresent,
  findInstanceOf,
  lockInstanceOf,
  lockMachinesOf,
  startInstance,
  stopInstance,
} from "./service.ts";
export { listInstanceFacts, type InstanceFacts } from "./facts-store.ts";
export { listSites, type Site } from "./site-service.ts";
export { WORKER_GROUP_VARIABLE, workerTokenOf } from "./rules/platform-env.ts";
export { renewFromWish } from "./renewal-service.ts";
export { RETENTION_MS } from "./rules/rental-end.ts";
export { changeDiscount, changePrices, lockAnyInstance, lockAnyInstances } from "./terms-service.ts";
export {
  periodsOf,
  segmentsOf,
  type Counter,
  type PastTerms,
  type Terms,
  type TermsHistory,
} from "./rules/terms-history.ts";
export { isCharged, endDiscounts, listEndedBefore, listPastTerms, readEnding, type Prices } from "./terms-store.ts";
export type { Actor, Instance } from "./instance.ts";
export type { DesiredState, Phase } from "./rules/lifecycle.ts";
export { destroyInstances, extendRentals, followTerms, noteOnRentals } from "./rental-service.ts";
export { reschedule } from "./transitions.ts";
export { hasRentedOn, listRentals, type Rental } from "./rental-store.ts";
export { DESIRED_CHANNEL, listMachineIdsOf } from "./store.ts";
export { stopUnpaid } from "./charging-service.ts";
export { stopFlooded } from "./traffic-service.ts";
export { stopFrozen } from "./freeze-service.ts";
export { listWantedOf } from "./freeze-store.ts";
export { trafficLeft, type TrafficRules } from "./traffic-budget.ts";
export {
  listAuditedTraffic,
  listTrafficAccounts,
  noteTraffic,
  readTrafficRules,
  setTrafficRules,
  type TrafficUse,
} from "./traffic-store.ts";
export { makeDue } from "./settle-store.ts";
export { closeFaults, listOpenFaults, type OpenFault } from "./host-fault-store.ts";
export { holdAmount, trafficAllowance } from "./rules/pricing.ts";
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
export { listAuditedFaults } from "./fault-audit-store.ts";
export { HOLDING_PHASES } from "./rules/lifecycle.ts";
export { countInstancesOf } from "./belongings-store.ts";
export { sealEarlierInstances } from "./seal-store.ts";
