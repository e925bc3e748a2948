import { createOfflineProvider } from "./offline-provider.ts";
import type { PaymentProvider } from "./provider.ts";
import type { StripeSettings } from "./stripe-client.ts";
import { createStripeProvider } from "./stripe-provider.ts";

/** How money comes in and goes out here. */
export type PaymentSettings = {
  /** Undefined where nobody pays by card. */
  readonly stripe: StripeSettings | undefined;
  /** Where users reach this server, for the way back from the provider's page; undefined for the address they called. */
  readonly publicUrl: string | undefined;
  /** What the house keeps of hosts' earnings, in millionths. */
  readonly feePpm: number;
};

export const NO_PAYMENTS: PaymentSettings = { stripe: undefined, publicUrl: undefined, feePpm: 0 };

export function createPaymentProvider({ stripe }: PaymentSettings): PaymentProvider {
  return stripe === undefined ? createOfflineProvider() : createStripeProvider(stripe);
}
