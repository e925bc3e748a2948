export { takeBackEarnings } from "./corrections/correction-service.ts";
export { placePayoutHold, releasePayoutHold } from "./payouts/payout-hold-service.ts";
export { hasOpenPayoutHold, listOpenPayoutHolds } from "./payouts/payout-hold-store.ts";
export { readFeeDue } from "./payouts/payout-service.ts";
