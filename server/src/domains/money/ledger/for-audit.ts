// Exports that only audit uses.
export { listOverTakings, listWrongEarnings } from "./audit/earned-audit-store.ts";
export { listCapChanges, listCapLimits } from "./audit/cap-audit-store.ts";
export { limitAfter, type CapLimit } from "./caps/cap-limit.ts";
export { auditLedgerAfter, type AuditedUpTo, type LedgerDifference } from "./audit/audit-store.ts";
export {
  listMovedBuckets,
  listMovedIds,
  listStatedCaps,
  listStatedTransfers,
  type StatedTransfer,
} from "./audit/fact-audit-store.ts";
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
} from "./audit/audited-transfer-store.ts";
