// Exports that only payments uses.
export { PAYOUTS, STRIPE, type AccountRef, type TransferCode } from "./types.ts";
export { listAtMost, listEarners, listSpendable } from "./balance-store.ts";
export { readFreeCashOf, setDebt, sumCashEarnedFrom, sumGrantedEarned, sumKeptEarnings } from "./earned-parts-store.ts";
export { findTransferOf } from "./transfer-store.ts";
