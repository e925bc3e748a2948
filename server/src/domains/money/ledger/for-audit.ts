// Exports that only audit uses.
export { listOverTakings, listWrongEarnings } from "./earned-audit-store.ts";
export { listCapChanges, listCapLimits } from "./cap-audit-store.ts";
export { limitAfter, type CapLimit } from "./cap-limit.ts";
export { auditLedgerAfter, type AuditedUpTo, type LedgerDifference } from "./audit-store.ts";
export {
  listMovedBuckets,
  listMovedIds,
  listStatedCaps,
  listStatedTransfers,
  type StatedTransfer,
} from "./fact-audit-store.ts";
export {
  findNextTransferId,
  listAuditedCaps,
  listAuditedTransfers,
  listMinimumBalances,
  listDepositFlows,
  listNamedTransfers,
  listPendingHolds,
  listTransferChecksums,
  listUsageBuckets,
  listUsageIds,
  sumPosted,
  type AuditedTransfer,
  type ChecksumPart,
  type NamedTransfer,
  type PendingHold,
  type TransferRange,
} from "./audited-transfer-store.ts";
