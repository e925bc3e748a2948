// Exports that only schedules uses.
export { findIdentityOfKey } from "./keys/identity-store.ts";
export { isDemanding } from "./keys/service.ts";
export { isWithin } from "./keys/rules/permissions.ts";
