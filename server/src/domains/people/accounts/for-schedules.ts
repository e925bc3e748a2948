// Exports that only schedules uses.
export { findIdentityOfKey } from "./keys/identity-store.ts";
