// Exports that only administration uses.
export { takeOffMarket, tellRentersToMove } from "./operator-service.ts";
export { countReports, countReportsSince } from "./store.ts";
