// Exports that only administration uses.
export { readQueueLength } from "./belongings-store.ts";
