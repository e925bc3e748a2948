// Exports that only payments uses.
export { PAYOUTS, STRIPE, type AccountRef, type TransferCode } from "./types.ts";
export { hasNegativeEarnings, listAtMost, listEarners, listSpendable } from "./balance-store.ts";
export {
  debtors,
  readFreeCashOf,
  setDebt,
  sumCashEarnedFrom,
  sumGrantedEarned,
  sumKeptEarnings,
} from "./earnings/earned-parts-store.ts";
export { listSentCredit } from "./sent-credit-store.ts";
export { findTransferOf, sumGranted } from "./transfer-store.ts";
