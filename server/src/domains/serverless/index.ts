export { retryWorkerRemoval } from "./loops/retry-worker-removal.ts";
export type { DestroyInstance, DestroyOrder } from "./removal-service.ts";
export { endpointRoutes } from "./routes.ts";
export { addWorker } from "./service.ts";
