export {
  asHoldId,
  creditOf,
  depositOf,
  earningsOf,
  FEES,
  ISSUANCE,
  PAYOUTS,
  USAGE_CODES,
  type AccountRef,
  type Cause,
  type HoldId,
  type TransferCode,
  type TransferEntry,
  type TransferId,
  type TransferOutcome,
  type TransferRequest,
  type UsageCode,
} from "./types.ts";
export { sumEarningsOf, type EarningSum } from "./earnings-store.ts";
export { ledgerLoops } from "./loops.ts";
export {
  balanceOf,
  listDepositBalances,
  listTransfersOf,
  sumUsageOf,
  totalSpent,
  type UsageSum,
} from "./report-store.ts";
export { placeHold, placeHolds, postHold, releaseHold, releaseHolds } from "./hold-store.ts";
export { createTransferPoster, postTransfer, postTransfers, type TransferPoster } from "./transfer-store.ts";
export { auditLedger } from "./audit-store.ts";
