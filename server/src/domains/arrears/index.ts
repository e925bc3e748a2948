export { listAuditedArrears } from "./audit-store.ts";
export { arrearsLoops } from "./loops.ts";
export { arrearsRoutes } from "./routes.ts";
export { setArrearsLimit } from "./store.ts";
