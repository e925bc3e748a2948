// Exports that only invoices uses.
export type { AuditActor } from "./audit-log/store.ts";
export { listKeyOrigins, type KeyOrigin } from "./keys/origin-store.ts";
export { findRecipients, type Recipient } from "./users/recipient-store.ts";
export { findUser } from "./users/store.ts";
