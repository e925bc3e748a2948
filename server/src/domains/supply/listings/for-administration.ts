// Exports that only administration uses.
export { countReports, countReportsSince } from "./store.ts";
