// Exports that only administration uses.
export { searchPayouts } from "./payouts/found-payout-store.ts";
