// Exports that only assembly uses.
export { paymentLoops } from "./loops.ts";
export { listNewestPayoutHolds } from "./payouts/payout-hold-store.ts";
export { countOpenPayoutsOf } from "./payouts/payout-store.ts";
export type { PaymentProvider } from "./provider/provider.ts";
export { paymentRoutes } from "./routes.ts";
export { setEarningsRules, setFeeRate } from "./rules-store.ts";
export { CARD_HOLD_DAYS, createPaymentProvider, NO_PAYMENTS, type PaymentSettings, platformFeeOf } from "./settings.ts";
export { readPaymentSummaries, readPaymentSummary } from "./summary-service.ts";
