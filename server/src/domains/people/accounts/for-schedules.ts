// Exports that only schedules uses.
export { findIdentityOfKey } from "./keys/store.ts";
