import { createOfflineProvider } from "./provider/offline-provider.ts";
import type { PaymentProvider } from "./provider/provider.ts";
import type { StripeSettings } from "./provider/stripe/stripe-client.ts";
import { createStripeProvider } from "./provider/stripe/stripe-provider.ts";

/** Settings for card payments, payouts and fees. */
export type PaymentSettings = {
  /** The settings of Stripe; undefined when no card payments are taken. */
  readonly stripe: StripeSettings | undefined;
  /** The server's address for users who return from the provider's page; undefined for the address that they called. */
  readonly publicUrl: string | undefined;
  /** The fee of the house on hosts' earnings, in millionths. */
  readonly feePpm: number;
  /** Days after which hosts are paid for granted credit; undefined when only administrators release it. */
  readonly grantedAfterDays: number | undefined;
  /** Days for which card payments are neither sent to other users nor paid out. */
  readonly cardHoldDays: number;
};

/**
 * Default of `cardHoldDays`: most disputes come within weeks of the payment, and hosts should not wait for all that may
 * come within 120 days.
 */
export const CARD_HOLD_DAYS = 14;

/** The fee of the house as a fraction. */
export function platformFeeOf({ feePpm }: Pick<PaymentSettings, "feePpm"> = NO_PAYMENTS): number {
  return feePpm / 1e6;
}

export const NO_PAYMENTS: PaymentSettings = {
  stripe: undefined,
  publicUrl: undefined,
  feePpm: 0,
  grantedAfterDays: undefined,
  cardHoldDays: CARD_HOLD_DAYS,
};

export function createPaymentProvider({ stripe }: PaymentSettings): PaymentProvider {
  return stripe === undefined ? createOfflineProvider() : createStripeProvider(stripe);
}
