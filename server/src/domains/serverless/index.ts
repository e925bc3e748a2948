export { retryWorkerRemoval } from "./loops/retry-worker-removal.ts";
export type { DestroyInstance, DestroyOrder } from "./removal-service.ts";
export { endpointRoutes } from "./routes.ts";
export { addWorker } from "./service.ts";
export { listEndpointsOf } from "./store.ts";
export { hasEndpointGroup } from "./store.ts";
export { countEndpointGroupsOf } from "./belongings-store.ts";
