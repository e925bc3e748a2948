export { keepBackground, listOutOfStep, removeBackground } from "./background-service.ts";
export { certificateRoutes } from "./certificate-routes.ts";
export { followDevices } from "./device-health.ts";
export { createInstances, type CreateOrder } from "./create.ts";
export { loadDesired, loadDesiredSets } from "./desired.ts";
export { launchRoutes } from "./launch-routes.ts";
export { instanceLoops } from "./loops.ts";
export { ReportRecorder } from "./observe.ts";
export { instanceKeyMaker, OrderDesk, type Wish } from "./orders.ts";
export {
  listProxiedInstances,
  prepareProxyPorts,
  PROXY_PORTS_CHANNEL,
  type ProxiedInstance,
} from "./proxy-port-store.ts";
export { instanceRoutes } from "./routes.ts";
export { instanceTaskRoutes } from "./task-routes.ts";
export { CreateBody } from "./schema.ts";
export { destroyIfPresent, findInstanceOf, lockInstanceOf, lockMachinesOf } from "./service.ts";
export { RETENTION_MS } from "./rental-end.ts";
export { changeDiscount, changePrices, lockAnyInstance } from "./terms-service.ts";
export { isCharged, listEndedBefore, readEnding, setDiscount, type Prices } from "./terms-store.ts";
export type { Actor, Instance } from "./instance.ts";
export { destroyInstances, extendRentals, followTerms, noteOnRentals } from "./rental-service.ts";
export { reschedule } from "./transitions.ts";
export { hasRentedOn, listRentals, type Rental } from "./rental-store.ts";
export { listUnchargedRuns, listUnchargedRunsOf, markCharged, type RunKey } from "./run-store.ts";
export { DESIRED_CHANNEL, listMachineIdsOf } from "./store.ts";
export { lockForCharging, renewHold, stopForEmptyBalance, type ChargeableRun } from "./charging-service.ts";
