// Exports that only audit uses.
export { listStatedPayoutHolds, listStatedPayouts, payoutsOf } from "./fact-audit-store.ts";
export { listExpectedMovements, listMadeMovements, listWrongPayouts, type ExpectedMovement } from "./audit-store.ts";
export { listAuditedDebts, listAuditedReturns, type AuditedReturn } from "./refunds/return-audit-store.ts";
export { isDepositKind, namedByKey, nameTaken, returnKeysOf } from "./refunds/rules/return-keys.ts";
