export {
  asHoldId,
  creditOf,
  depositOf,
  earningsOf,
  FEES,
  ISSUANCE,
  LOSSES,
  PAYOUTS,
  STRIPE,
  CAP_PERIODS,
  type AccountRef,
  type CapPeriod,
  type CapScope,
  type Cause,
  type HoldId,
  type HoldOutcome,
  type HoldRequest,
  type Limitation,
  type TransferCode,
  type TransferId,
  type TransferOutcome,
  type TransferRequest,
  type UsageCode,
} from "./types.ts";
export { listAtMost, listEarners, listSpendable } from "./balance-store.ts";
export {
  listEarnersAmong,
  listEarningsHolders,
  sumEarningsMovements,
  type EarningsMovement,
} from "./earnings-movement-store.ts";
export { sumEarningsOf, type EarningSum } from "./earnings-store.ts";
export { listOverTakings, listWrongEarnings } from "./earned-audit-store.ts";
export {
  readEarnings,
  listWentBack,
  readFreeCash,
  readFreeCashOf,
  setDebt,
  sumCashEarnedFrom,
  sumGrantedEarned,
  sumKeptEarnings,
  sumPaidIn,
} from "./earned-parts-store.ts";
export { sumReceivedCredit } from "./received-store.ts";
export { ledgerLoops } from "./loops.ts";
export { balanceOf, balancesOf, listDepositBalances } from "./report-store.ts";
export {
  firstMovementAt,
  listCreditHolders,
  listMovements,
  listMoversAmong,
  placeOf,
  prepaidBalanceOf,
  listEarlyEnds,
  sumPrepaidMovements,
  type EarlyEnd,
  type Movement,
  type MovementCode,
  type MovementPlace,
  type MovementQuery,
  type MovementSide,
  type MovementSum,
} from "./movement-store.ts";
export {
  deleteCap,
  findCap,
  listCappedAmong,
  listCaps,
  listCapsOfScopes,
  listCapsToTellOf,
  listReachedCaps,
  lockCapRoom,
  lockCapRooms,
  noteCapsReached,
  noteSpending,
  putCap,
  type Cap,
  type CapRoom,
} from "./cap-store.ts";
export { listCapChanges, listCapLimits } from "./cap-audit-store.ts";
export { limitAfter, type CapLimit } from "./cap-limit.ts";
export { listMovementsOf, listPostedMovements, type PostedMovement, type PostedPlace } from "./posted-store.ts";
export { sumPrepaid } from "./prepaid-store.ts";
export { describeScope, idOfScope, kindOfScope, parseCapPeriod, parseCapScope, resetAt, startOf } from "./cap-scope.ts";
export {
  isHeldUntilStopped,
  findPendingHold,
  listHoldsAlike,
  listPendingAmounts,
  placeHold,
  placeHolds,
  postHold,
  releaseHold,
  releaseHolds,
  useHolds,
  UNTIL_STOPPED,
} from "./hold-store.ts";
export {
  createTransferPoster,
  findInCause,
  findTransferOf,
  postAllTransfers,
  postTransfer,
  postTransfers,
  type TransferPoster,
} from "./transfer-store.ts";
export { lockAccounts, lockCredit, readMeans, setMinimumBalance, type LockedAccounts } from "./account-store.ts";
export { auditLedger, auditLedgerAfter, type AuditedUpTo, type LedgerDifference } from "./audit-store.ts";
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
