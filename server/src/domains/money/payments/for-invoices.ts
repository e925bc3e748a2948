// Exports that only invoices uses.
export { listPayouts, type Payout } from "./payouts/payout-store.ts";
export { listYoungCredit, readPayable } from "./payouts/payable-service.ts";
