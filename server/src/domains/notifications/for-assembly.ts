// Exports that only assembly uses.
export { readDueDeliveries } from "./delivery/store.ts";
