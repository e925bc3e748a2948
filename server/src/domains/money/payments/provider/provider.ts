import type { PaymentId, PayoutId, UserId } from "../../../../base/ids.ts";

/** Everything is asked for and paid out in this currency. */
export const CURRENCY = "usd";

/** What is for one payment of this database: a provider is told of it, and events name it. */
export type OrderRef = { readonly installation: string; readonly paymentId: PaymentId };

export type ProviderCard = {
  readonly methodId: string;
  readonly brand: string;
  readonly last4: string;
  readonly expiryMonth: number;
  readonly expiryYear: number;
};

/** A page of the provider, on which the user pays or leaves a card. */
export type ProviderPage = { readonly sessionId: string; readonly url: string };

export type CheckoutRequest = {
  readonly order: OrderRef;
  readonly customerId: string;
  readonly amountCents: bigint;
  readonly savesCard: boolean;
  readonly returnUrl: string;
};

export type SetupRequest = Pick<CheckoutRequest, "order" | "customerId" | "returnUrl">;

export type SavedCharge = {
  readonly order: OrderRef;
  readonly customerId: string;
  readonly methodId: string;
  readonly amountCents: bigint;
  readonly idempotencyKey: string;
};

/** What became of a charge; `waiting` is decided later, and told by an event. */
export type ChargeResult =
  | { readonly kind: "paid"; readonly intentId: string; readonly amountCents: bigint; readonly currency: string }
  | { readonly kind: "waiting"; readonly intentId: string }
  | { readonly kind: "declined"; readonly intentId: string | undefined; readonly reason: string };

export type RefundRequest = {
  readonly intentId: string;
  readonly amountCents: bigint;
  readonly idempotencyKey: string;
};

export type RefundResult = { readonly kind: "asked" } | { readonly kind: "refused"; readonly reason: string };

export type PayOutRequest = {
  readonly payoutId: PayoutId;
  readonly installation: string;
  /** The host's account at the provider. */
  readonly destination: string;
  readonly amountCents: bigint;
  /** It was asked for before, and nobody knows what came of it. */
  readonly isRepeated: boolean;
};

/** `by_hand`: this provider sends nothing; an administrator does, and says so. */
export type PayOutResult =
  | { readonly kind: "paid"; readonly reference: string }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "by_hand" };

/** What an event of the provider says, in our words. */
export type EventContent =
  | {
      readonly kind: "money_received";
      readonly intentId: string;
      readonly order: OrderRef | undefined;
      readonly amountCents: bigint;
      readonly currency: string;
    }
  | {
      readonly kind: "charge_failed";
      readonly intentId: string;
      readonly order: OrderRef | undefined;
      readonly reason: string;
    }
  | { readonly kind: "page_left"; readonly order: OrderRef | undefined; readonly reason: "expired" | "failed" }
  | { readonly kind: "setup_done"; readonly order: OrderRef | undefined; readonly customerId: string | undefined }
  /** `key` names the refund or dispute; a refund is told as the sum of all refunds so far. */
  | {
      readonly kind: "money_returned";
      readonly intentId: string;
      readonly key: string;
      readonly returnedCents: bigint;
      readonly isReversed: boolean;
      /** A dispute that is decided; false for refunds. */
      readonly isClosed: boolean;
    }
  /** A refund that did not reach the card: its money is with the house again. */
  | {
      readonly kind: "return_failed";
      readonly intentId: string;
      readonly reference: string;
      readonly failedCents: bigint;
    }
  /** Of what was sent to a host this much is taken back, in all. */
  | {
      readonly kind: "payout_returned";
      readonly installation: string;
      readonly payoutId: PayoutId;
      readonly reference: string;
      readonly returnedCents: bigint;
    }
  | { readonly kind: "card_saved"; readonly customerId: string; readonly card: ProviderCard }
  | { readonly kind: "card_gone"; readonly methodId: string }
  | { readonly kind: "ignored" };

export type ProviderEvent = { readonly id: string; readonly type: string; readonly content: EventContent };

export type ProviderDescription = {
  /** Whether users can pay here by themselves. */
  readonly takesCards: boolean;
  /** Whether it can send money to hosts that have an account there. */
  readonly sendsPayouts: boolean;
  /** How users come by credit here, in one sentence. */
  readonly topUpText: string;
};

/**
 * Whoever moves money in and out of the house. Methods that ask somebody over a network throw `unavailable` when no
 * answer came; then nobody knows whether it was done, and the same request may be made again.
 */
export type PaymentProvider = {
  readonly name: "stripe" | "offline";
  describe(): ProviderDescription;
  createCustomer(customer: {
    readonly installation: string;
    readonly userId: UserId;
    readonly email: string;
  }): Promise<string>;
  createCheckout(request: CheckoutRequest): Promise<ProviderPage>;
  createSetup(request: SetupRequest): Promise<ProviderPage>;
  listCards(customerId: string): Promise<readonly ProviderCard[]>;
  /** A card that is gone already is fine. */
  detachCard(methodId: string): Promise<void>;
  chargeSaved(charge: SavedCharge): Promise<ChargeResult>;
  findCharge(intentId: string): Promise<ChargeResult>;
  /** Asks for it only: that the money went back, an event says. */
  refund(request: RefundRequest): Promise<RefundResult>;
  /** Verifies the signature over exactly these bytes, at this instant. Throws `invalid_signature`. */
  parseWebhook(rawBody: Buffer, signature: string, now: Date): Promise<ProviderEvent>;
  payOut(request: PayOutRequest): Promise<PayOutResult>;
};
