export { listAuditedArrears } from "./arrears/audit-store.ts";
export { arrearsLoops } from "./arrears/loops.ts";
export { arrearsRoutes } from "./arrears/routes.ts";
export { setArrearsLimit } from "./arrears/store.ts";
export { capLoops } from "./caps/loops.ts";
export { capRoutes } from "./caps/routes.ts";
export { refuseCappedMember, refuseNewKeys } from "./caps/service.ts";
