export { certificateRoutes } from "./certificate-routes.ts";
export { followDevices } from "./device-health.ts";
export { loadDesired } from "./desired.ts";
export { instanceLoops } from "./loops.ts";
export { ReportRecorder } from "./observe.ts";
export { instanceKeyMaker, OrderDesk } from "./orders.ts";
export {
  listProxiedInstances,
  prepareProxyPorts,
  PROXY_PORTS_CHANNEL,
  type ProxiedInstance,
} from "./proxy-port-store.ts";
export { instanceRoutes } from "./routes.ts";
export { instanceTaskRoutes } from "./task-routes.ts";
export { destroyIfPresent, lockMachinesOf } from "./service.ts";
export { listUnchargedRuns, markCharged, type RunKey } from "./run-store.ts";
export { DESIRED_CHANNEL, listMachineIdsOf } from "./store.ts";
export { lockForCharging, stopForEmptyBalance, type ChargeableRun } from "./charging-service.ts";
