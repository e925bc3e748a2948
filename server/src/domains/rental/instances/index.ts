export { keepBackground, listOutOfStep, removeBackground } from "./rentals/background-service.ts";
export { findMachinesFor, type MachinesFor } from "./orders/barred-images.ts";
export { takeEndingRentals } from "./rentals/ending-store.ts";
export { certificateRoutes } from "./access/certificate-routes.ts";
export { rootCertificate } from "./access/certificate-service.ts";
export { subjectOf } from "./access/certificates.ts";
export { storeLastCounters } from "./counting-service.ts";
export { followDevices } from "./lifecycle/device-health.ts";
export { createInstances } from "./orders/create.ts";
export type { CreateOrder } from "./orders/create-order.ts";
export { listInstanceIdsOfScope, listStoredInstances, type StoredInstance } from "./cap-scope-store.ts";
export { scopesOf } from "./cap-scopes.ts";
export { requireOwnInstance, requireOwnSpending, type Spender } from "./own-spending.ts";
export { loadDesired, loadDesiredSets } from "./lifecycle/desired.ts";
export { listInstanceCosts, listScopeCosts, NO_COST, type ScopeCost } from "./rate-store.ts";
export { listKept, listRenters } from "./rentals/renter-store.ts";
export { launchRoutes } from "./orders/launch-routes.ts";
export { instanceLoops } from "./lifecycle/loops.ts";
export { GATHER_MS, ReportRecorder } from "./lifecycle/observe.ts";
export { instanceKeyMaker, OrderDesk, type Wish } from "./orders/order-desk.ts";
export { listInstanceNames, type InstanceName } from "./rentals/name-store.ts";
export {
  listProxiedInstances,
  prepareProxyPorts,
  PROXY_PORTS_CHANNEL,
  type ProxiedInstance,
} from "./access/proxy-port-store.ts";
export { watchProxiedTraffic } from "./traffic/proxied-traffic-service.ts";
export { listUnreachedRuns, storeEvidence, type UnreachedRun } from "./evidence-store.ts";
export { countableMs, type StartEvidence } from "./start-evidence.ts";
export type { RunKey } from "./run-store.ts";
export { instanceRoutes } from "./routes.ts";
export { instanceTaskRoutes } from "./tasks/task-routes.ts";
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
export { listSites, type Site } from "./access/site-service.ts";
export { WORKER_GROUP_VARIABLE, workerTokenOf } from "./settings/rules/platform-env.ts";
export { renewFromWish } from "./tasks/renewal-service.ts";
export { RETENTION_MS } from "./rentals/rules/rental-end.ts";
export { changeDiscount, changePrices, lockAnyInstance, lockAnyInstances } from "./rentals/terms-service.ts";
export {
  periodsOf,
  segmentsOf,
  type Counter,
  type PastTerms,
  type Terms,
  type TermsHistory,
} from "./rules/terms-history.ts";
export { endDiscounts, listEndedBefore, listPastTerms, readEnding, type Prices } from "./rentals/terms-store.ts";
export type { Actor, Instance } from "./instance.ts";
export type { DesiredState, Phase } from "./lifecycle/rules/lifecycle.ts";
export { destroyInstances, extendRentals, followTerms, noteOnRentals } from "./rentals/rental-service.ts";
export { reschedule } from "./lifecycle/transitions.ts";
export { hasRentedOn, listRentals, type Rental } from "./rentals/rental-store.ts";
export { DESIRED_CHANNEL, listMachineIdsOf } from "./store.ts";
export { stopUnpaid } from "./charging-service.ts";
export { stopFlooded } from "./traffic/traffic-service.ts";
export { stopFrozen } from "./lifecycle/freeze-service.ts";
export { listWantedOf } from "./lifecycle/freeze-store.ts";
export { trafficLeft, type TrafficRules } from "./traffic/rules/traffic-budget.ts";
export {
  listAuditedTraffic,
  listTrafficAccounts,
  noteTraffic,
  readTrafficRules,
  setTrafficRules,
  type TrafficUse,
} from "./traffic/traffic-store.ts";
export { closeFaults, listOpenFaults, type OpenFault } from "./lifecycle/host-fault-store.ts";
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
export { HOLDING_PHASES } from "./lifecycle/rules/lifecycle.ts";
export { countInstancesOf } from "./belongings-store.ts";
export { encryptEarlierInstances } from "./settings/encryption-store.ts";
