export { lockDeposits, shrinkDeposits, type LockedDeposit } from "./shrink-service.ts";
export { noteUses } from "./deposit-service.ts";
export { listDeposits, type Deposit } from "./deposit-store.ts";
export { depositLoops } from "./loops.ts";
export type { EndingRental } from "./rules/price-increase.ts";
export { listEndingRentals, offerPriceIncreases } from "./price-service.ts";
export { depositRoutes } from "./routes.ts";
export { listAuditedDeposits } from "./audit-store.ts";
