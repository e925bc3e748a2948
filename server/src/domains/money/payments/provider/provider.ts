import type { PaymentId, PayoutId, UserId } from "../../../../base/ids.ts";

/** The currency of all payments and payouts. */
export const CURRENCY = "usd";

/** Names one payment of one database; the provider stores it, and its events repeat it. */
export type OrderRef = { readonly installation: string; readonly paymentId: PaymentId };

export type ProviderCard = {
  readonly methodId: string;
  readonly brand: string;
  readonly last4: string;
  readonly expiryMonth: number;
  readonly expiryYear: number;
};

/** A page of the provider on which the user pays or saves a card. */
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

/** The outcome of a charge; `waiting` is decided later, and an event reports it. */
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
  /** True when it was requested before with an unknown outcome. */
  readonly isRepeated: boolean;
};

/** `by_hand`: this provider sends no payouts; an administrator does, and confirms it. */
export type PayOutResult =
  | { readonly kind: "paid"; readonly reference: string }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "by_hand" };

/** The content of a provider's event, in the terms of this server. */
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
  /** `key` names the refund or dispute; a refund reports the sum of all refunds so far. */
  | {
      readonly kind: "money_returned";
      readonly intentId: string;
      readonly key: string;
      readonly returnedCents: bigint;
      readonly isReversed: boolean;
      /** True for a dispute that is decided; false for refunds. */
      readonly isClosed: boolean;
    }
  /** A refund that did not reach the card: the house has its money again. */
  | {
      readonly kind: "return_failed";
      readonly intentId: string;
      readonly reference: string;
      readonly failedCents: bigint;
    }
  /** The sum that was taken back of a payout, in all. */
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
  /** True when users can pay here by themselves. */
  readonly takesCards: boolean;
  /** True when it can send money to hosts who have an account there. */
  readonly sendsPayouts: boolean;
  /** One sentence that tells users how to get credit here. */
  readonly topUpText: string;
};

/**
 * Moves money in and out of the house. Methods that make requests throw `unavailable` when no answer came: the outcome
 * is then unknown, and the same request may be repeated.
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
  /** Detaches a card; succeeds when it is gone already. */
  detachCard(methodId: string): Promise<void>;
  chargeSaved(charge: SavedCharge): Promise<ChargeResult>;
  findCharge(intentId: string): Promise<ChargeResult>;
  /** Requests a refund; an event reports when the money went back. */
  refund(request: RefundRequest): Promise<RefundResult>;
  /** Verifies the signature over exactly these bytes at this instant. Throws `invalid_signature`. */
  parseWebhook(rawBody: Buffer, signature: string, now: Date): Promise<ProviderEvent>;
  payOut(request: PayOutRequest): Promise<PayOutResult>;
};
