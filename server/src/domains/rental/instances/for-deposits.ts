// Exports that only deposits uses.
export { requireOwnInstance, type Spender } from "./own-spending.ts";
export { noDiscount, refusePrepaying } from "./rules/refusals.ts";
export { lockInstanceOf } from "./service.ts";
export { RETENTION_MS } from "./rentals/rules/rental-end.ts";
export { changeDiscount, changePrices, lockAnyInstance, lockAnyInstances } from "./rentals/terms-service.ts";
export { endedRental, endsBefore, hasUnchargedTime, isOnMachine, openRentalsOf } from "./rentals/rental-sql-store.ts";
export { endDiscounts, listEndedBefore, readEnding, type Prices } from "./rentals/terms-store.ts";
export type { Instance } from "./instance.ts";
