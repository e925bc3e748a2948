// Exports that only limits uses.
export { listStoredInstances, type StoredInstance } from "./cap-scope-store.ts";
export { listKept, listRenters } from "./rentals/renter-store.ts";
