// Exports that only administration uses.
export { countGrantsOfEach } from "./demand-store.ts";
