// Exports that only administration uses.
export { countPayouts, searchPayouts } from "./payouts/found-payout-store.ts";
