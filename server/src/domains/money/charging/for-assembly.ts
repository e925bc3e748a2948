// Exports that only assembly uses.
export { depositAccrualOf } from "./accruals/accrued.ts";
export { readBalances } from "./accruals/balance.ts";
export { chargeDayLoop } from "./days/charge-day-loop.ts";
export { settleInstance } from "./settlement/service.ts";
