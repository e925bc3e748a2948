import type Stripe from "stripe";
import { parseId, type PaymentId, type PayoutId } from "../../../../../base/ids.ts";
import type { EventContent, OrderRef, ProviderEvent } from "../provider.ts";
import { cardOf } from "./stripe-card.ts";

/**
 * The content of a Stripe event. Events of other systems that share the Stripe account are read, but name no order of
 * this database.
 */
export function readStripeEvent(event: Stripe.Event): ProviderEvent {
  // Events of connected accounts: payments to a host there are not the house's money, even when they name an order.
  const isForeign = typeof event.account === "string";
  return { id: event.id, type: event.type, content: isForeign ? { kind: "ignored" } : contentOf(event) };
}

function contentOf(event: Stripe.Event): EventContent {
  switch (event.type) {
    case "checkout.session.completed":
    case "checkout.session.async_payment_succeeded":
      return contentOfSession(event.data.object);
    case "checkout.session.async_payment_failed":
      return { kind: "page_left", order: orderOf(event.data.object.metadata), reason: "failed" };
    case "checkout.session.expired":
      return { kind: "page_left", order: orderOf(event.data.object.metadata), reason: "expired" };
    case "payment_intent.succeeded": {
      const { id, metadata, amount_received: amount, currency } = event.data.object;
      return { kind: "money_received", intentId: id, order: orderOf(metadata), amountCents: BigInt(amount), currency };
    }
    case "payment_intent.payment_failed": {
      const { id, metadata, last_payment_error: failure } = event.data.object;
      const reason = failure?.message ?? "the payment failed";
      return { kind: "charge_failed", intentId: id, order: orderOf(metadata), reason };
    }
    case "charge.refunded": {
      const { id, payment_intent: intent, amount_refunded: amount } = event.data.object;
      return returned(`refund:${id}`, intent, { amount, isReversed: false, isClosed: false });
    }
    case "refund.failed": {
      const { id, payment_intent: intent, amount } = event.data.object;
      const intentId = idOf(intent);
      return intentId === undefined
        ? { kind: "ignored" }
        : { kind: "return_failed", intentId, reference: id, failedCents: BigInt(amount) };
    }
    case "charge.dispute.created":
    case "charge.dispute.funds_withdrawn":
    case "charge.dispute.closed": {
      const { id, payment_intent: intent, amount, status } = event.data.object;
      // A bank's warning takes no money; if it takes some later, funds_withdrawn reports it.
      if (status.startsWith("warning_")) return { kind: "ignored" };
      const isClosed = event.type === "charge.dispute.closed";
      return returned(`dispute:${id}`, intent, { amount, isReversed: WON.has(status), isClosed });
    }
    case "transfer.reversed":
      return contentOfTransfer(event.data.object);
    case "payment_method.attached":
    case "payment_method.updated":
    case "payment_method.automatically_updated": {
      const method = event.data.object;
      const [customerId, card] = [idOf(method.customer), cardOf(method)];
      return customerId === undefined || card === undefined
        ? { kind: "ignored" }
        : { kind: "card_saved", customerId, card };
    }
    case "payment_method.detached":
      return { kind: "card_gone", methodId: event.data.object.id };
    default:
      return { kind: "ignored" };
  }
}

/** States of a dispute that ended without taking money. */
const WON: ReadonlySet<string> = new Set(["won", "prevented"]);

function contentOfSession(session: Stripe.Checkout.Session): EventContent {
  const { mode, metadata, payment_status: status, payment_intent: intent, amount_total: amount, currency } = session;
  const order = orderOf(metadata);
  if (mode === "setup") return { kind: "setup_done", order, customerId: idOf(session.customer) };
  const intentId = idOf(intent);
  // A slow payment method: another event reports when the money has arrived.
  if (status !== "paid" || intentId === undefined) return { kind: "ignored" };
  return { kind: "money_received", intentId, order, amountCents: BigInt(amount ?? 0), currency: currency ?? "" };
}

function contentOfTransfer({ id, metadata, amount_reversed: reversed }: Stripe.Transfer): EventContent {
  const installation = metadata["berth_installation"];
  const payoutId = parseId<PayoutId>(metadata["berth_payout"] ?? "");
  if (installation === undefined || payoutId === undefined) return { kind: "ignored" };
  return { kind: "payout_returned", installation, payoutId, reference: id, returnedCents: BigInt(reversed) };
}

function returned(
  key: string,
  intent: string | { readonly id: string } | null,
  { amount, ...state }: { readonly amount: number; readonly isReversed: boolean; readonly isClosed: boolean },
): EventContent {
  const intentId = idOf(intent);
  if (intentId === undefined) return { kind: "ignored" };
  return { kind: "money_returned", intentId, key, returnedCents: BigInt(amount), ...state };
}

function idOf(named: string | { readonly id: string } | null): string | undefined {
  return typeof named === "string" ? named : named?.id;
}

function orderOf(metadata: Readonly<Record<string, string>> | null): OrderRef | undefined {
  const installation = metadata?.["berth_installation"];
  const paymentId = parseId<PaymentId>(metadata?.["berth_payment"] ?? "");
  if (installation === undefined || paymentId === undefined) return undefined;
  return { installation, paymentId };
}
