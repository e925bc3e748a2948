// Exports that only administration uses.
export { countReports } from "./store.ts";
