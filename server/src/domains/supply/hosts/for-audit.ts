// Exports that only audit uses.
export type { Inventory } from "./sessions/session-news.ts";
export { listMistakenConnections } from "./sessions/server-end-store.ts";
export type { Registration } from "./store.ts";
export { listAuditedMachines, type AuditedMachine } from "./audit-store.ts";
