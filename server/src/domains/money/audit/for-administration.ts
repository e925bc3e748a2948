// Exports that only administration uses.
export { readAuditState } from "./findings/audit-state-store.ts";
