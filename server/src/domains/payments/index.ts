export { paymentLoops } from "./loops.ts";
export { readFeeDue } from "./payout-service.ts";
export { countOpenPayoutsOf, listPayouts, type Payout } from "./payout-store.ts";
export type { PaymentProvider } from "./provider.ts";
export { paymentRoutes } from "./routes.ts";
export { setFeeRate } from "./rules-store.ts";
export { createPaymentProvider, NO_PAYMENTS, type PaymentSettings } from "./settings.ts";
export { readPaymentStanding } from "./standing-service.ts";
export { listExpectedMovements, listMadeMovements, type ExpectedMovement } from "./audit-store.ts";
