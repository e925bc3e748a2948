export { loadDesired } from "./desired.ts";
export { instanceLoops } from "./loops.ts";
export { ReportRecorder } from "./observe.ts";
export { instanceKeyMaker, OrderDesk } from "./orders.ts";
export { instanceRoutes } from "./routes.ts";
export { destroyIfPresent, stopInstance, type InstanceRequest } from "./service.ts";
export { DESIRED_CHANNEL, listMachineIdsOf, listUnchargedRuns, markCharged, type UnchargedRun } from "./store.ts";
export { lockForCharging, stopForEmptyBalance, type ChargeableInstance } from "./charging-service.ts";
