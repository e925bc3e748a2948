export {
  asHoldId,
  creditOf,
  earningsOf,
  FEES,
  ISSUANCE,
  PAYOUTS,
  TRANSFER_CODES,
  USAGE_CODES,
  type AccountRef,
  type Balance,
  type Cause,
  type HoldId,
  type HoldOutcome,
  type HoldRequest,
  type TransferCode,
  type TransferEntry,
  type TransferFilter,
  type TransferId,
  type TransferOutcome,
  type TransferRequest,
  type UsageCode,
} from "./types.ts";
export { balanceOf, listTransfersOf, sumUsageOf, totalSpent, type UsageSum } from "./report-store.ts";
export { placeHold, placeHolds, postHold, releaseHold, releaseHolds } from "./hold-store.ts";
export { createTransferPoster, postTransfer, postTransfers, type TransferPoster } from "./transfer-store.ts";
export { auditLedger, type LedgerAudit, type LedgerDifference } from "./audit-store.ts";
