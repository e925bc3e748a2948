import type Stripe from "stripe";
import type { ProviderCard } from "../provider.ts";

/** The card of a payment method; undefined for other methods. */
export function cardOf({ id, card }: Stripe.PaymentMethod): ProviderCard | undefined {
  if (card === undefined || card === null) return undefined;
  return {
    methodId: id,
    brand: card.brand,
    last4: card.last4,
    expiryMonth: card.exp_month,
    expiryYear: card.exp_year,
  };
}
