// Exports that only listings uses.
export { totalEarningsBy, type EarningTotal } from "./earnings/earnings-store.ts";
