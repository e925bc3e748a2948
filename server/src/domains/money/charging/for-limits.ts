// Exports that only limits uses.
export { balanceStopsAt, capsStopAt } from "./accruals/outlook-service.ts";
export { SETTLED_AT_ONCE_MAX, settleWithin } from "./settlement/service.ts";
export { settleVolumesWithin } from "./volumes/volume-settlement.ts";
export { sumCharged } from "./spending/spent-store.ts";
