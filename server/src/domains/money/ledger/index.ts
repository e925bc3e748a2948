export {
  asHoldId,
  creditOf,
  depositOf,
  earningsOf,
  FEES,
  ISSUANCE,
  LOSSES,
  CAP_PERIODS,
  type CapScope,
  type Cause,
  type HoldId,
  type TransferId,
  type TransferRequest,
  type UsageCode,
} from "./types.ts";
export { sumEarningsOf, type EarningSum } from "./earnings/earnings-store.ts";
export { readEarnings } from "./earnings/earned-parts-store.ts";
export { ledgerLoops } from "./loops.ts";
export { balanceOf, balancesOf, listDepositBalances } from "./report-store.ts";
export { prepaidBalanceOf, type MovementQuery } from "./movement-store.ts";
export { listCappedAmong, listCaps, listCapsOfScopes, lockCapRoom, noteSpending, type Cap } from "./caps/cap-store.ts";
export { describeScope, idOfScope, kindOfScope, parseCapScope, startOf } from "./caps/cap-scope.ts";
export { placeHold, placeHolds, postHold, releaseHold } from "./hold-store.ts";
export {
  createTransferPoster,
  postAllTransfers,
  postTransfer,
  postTransfers,
  type TransferPoster,
} from "./transfer-store.ts";
export { lockAccounts, lockCredit, readMeans, type LockedAccounts } from "./account-store.ts";
export type { Arrival, Sent } from "./sent-credit-store.ts";
export { auditLedger } from "./audit/audit-store.ts";
