// Exports that only assembly uses.
export { certificateRoutes } from "./access/certificate-routes.ts";
export { rootCertificate } from "./access/certificate-service.ts";
export { storeLastCounters } from "./counting/counting-service.ts";
export { expectNewerRuns } from "./lifecycle/restore-store.ts";
export { followDevices } from "./lifecycle/device-health.ts";
export { loadDesiredSets } from "./lifecycle/desired.ts";
export { launchRoutes } from "./orders/launch-routes.ts";
export { instanceLoops } from "./lifecycle/loops.ts";
export { GATHER_MS, ReportRecorder } from "./lifecycle/observe.ts";
export { instanceKeyMaker } from "./orders/order-desk.ts";
export {
  listProxiedInstances,
  prepareProxyPorts,
  PROXY_PORTS_CHANNEL,
  type ProxiedInstance,
} from "./access/proxy-port-store.ts";
export { findPublishedPort } from "./access/port-place.ts";
export { watchProxiedTraffic } from "./traffic/proxied-traffic-service.ts";
export { listUnreachedRuns, storeEvidence, type UnreachedRun } from "./evidence/evidence-store.ts";
export { instanceRoutes } from "./routes.ts";
export { fileRoutes } from "./files/file-routes.ts";
export { logRoutes } from "./logs/log-routes.ts";
export { terminalRoutes } from "./shell/terminal-routes.ts";
export { instanceTaskRoutes } from "./tasks/task-routes.ts";
export { workerTokenOf } from "./settings/rules/platform-env.ts";
export { DESIRED_CHANNEL, findLastInstanceId } from "./store.ts";
export { countInstancesOf } from "./belongings-store.ts";
export { rentals } from "./rented-store.ts";
export { encryptEarlierInstances } from "./settings/encryption-store.ts";
export { collectInstanceData } from "./personal-data-store.ts";
