import type Stripe from "stripe";
import { AppError, invalid } from "../../../../../base/errors.ts";
import {
  CURRENCY,
  type ChargeResult,
  type CheckoutRequest,
  type OrderRef,
  type PaymentProvider,
  type PayOutRequest,
  type PayOutResult,
  type ProviderCard,
  type ProviderEvent,
  type RefundRequest,
  type RefundResult,
  type SavedCharge,
  type SetupRequest,
} from "../provider.ts";
import { cardOf } from "./stripe-card.ts";
import { isErrorOf, messageOf, stripeClient, unavailable, type StripeSettings } from "./stripe-client.ts";
import { readStripeEvent } from "./stripe-events.ts";

/** Longest age of a webhook's signature: an older one may be a replay. */
const SIGNATURE_TOLERANCE_SECONDS = 300;
/** Cards per page of Stripe's lists. */
const CARDS_MAX = 100;
const PRODUCT_NAME = "Credit";
/** No retries by the library: loops repeat unanswered requests themselves. */
const ONCE = { maxNetworkRetries: 0 };

/**
 * Stripe, through its official library. Each request that moves money carries a key made of this database and its row,
 * so that a repetition moves the money once.
 */
export function createStripeProvider(settings: StripeSettings): PaymentProvider {
  const client = stripeClient(settings);
  const ask = async <T>(work: (stripe: Stripe) => Promise<T>): Promise<T> => {
    const stripe = await client();
    return work(stripe).catch((error: unknown) => {
      throw unavailable(error);
    });
  };
  return {
    name: "stripe",
    describe: () => ({
      takesCards: true,
      sendsPayouts: true,
      topUpText: "Cards are charged by Stripe (./berth billing top-up DOLLARS).",
    }),
    createCustomer: ({ installation, userId, email }) =>
      ask(async (stripe) => {
        const metadata = { berth_installation: installation, berth_user: String(userId) };
        const options = { idempotencyKey: `${installation}:customer:${userId}:${email}` };
        return (await stripe.customers.create({ email, metadata }, options)).id;
      }),
    createCheckout: (request) => ask((stripe) => createCheckout(stripe, request)),
    createSetup: (request) => ask((stripe) => createSetup(stripe, request)),
    listCards: (customerId) => ask((stripe) => listCards(stripe, customerId)),
    detachCard: (methodId) => ask((stripe) => detachCard(stripe, methodId)),
    chargeSaved: (charge) => ask((stripe) => chargeSaved(stripe, charge)),
    findCharge: (intentId) => ask(async (stripe) => resultOf(await stripe.paymentIntents.retrieve(intentId))),
    refund: (request) => ask((stripe) => refund(stripe, request)),
    parseWebhook: async (rawBody, signature, now) =>
      parseWebhook(await client(), { rawBody, signature, now, secret: settings.webhookSecret }),
    payOut: (request) => ask((stripe) => payOut(stripe, request)),
  };
}

async function createCheckout(
  stripe: Stripe,
  { order, customerId, amountCents, savesCard, returnUrl }: CheckoutRequest,
) {
  const metadata = metadataOf(order);
  const price = { currency: CURRENCY, unit_amount: Number(amountCents), product_data: { name: PRODUCT_NAME } };
  const session = await stripe.checkout.sessions.create(
    {
      mode: "payment",
      allowed_payment_method_types: ["card"],
      customer: customerId,
      client_reference_id: String(order.paymentId),
      metadata,
      line_items: [{ quantity: 1, price_data: price }],
      payment_intent_data: { metadata, ...(savesCard ? { setup_future_usage: "off_session" as const } : {}) },
      success_url: returnUrl,
      cancel_url: returnUrl,
    },
    { idempotencyKey: keyOf("checkout", order) },
  );
  return pageOf(session);
}

async function createSetup(stripe: Stripe, { order, customerId, returnUrl }: SetupRequest) {
  const session = await stripe.checkout.sessions.create(
    {
      mode: "setup",
      allowed_payment_method_types: ["card"],
      currency: CURRENCY,
      customer: customerId,
      client_reference_id: String(order.paymentId),
      metadata: metadataOf(order),
      success_url: returnUrl,
      cancel_url: returnUrl,
    },
    { idempotencyKey: keyOf("setup", order) },
  );
  return pageOf(session);
}

async function listCards(stripe: Stripe, customerId: string): Promise<readonly ProviderCard[]> {
  try {
    const { data } = await stripe.paymentMethods.list({ customer: customerId, type: "card", limit: CARDS_MAX });
    return data.flatMap((method) => cardOf(method) ?? []);
  } catch (error) {
    // A customer who was deleted at Stripe has no cards.
    if (isErrorOf(error, "StripeInvalidRequestError") && error.code === "resource_missing") return [];
    throw error;
  }
}

async function detachCard(stripe: Stripe, methodId: string): Promise<void> {
  try {
    await stripe.paymentMethods.detach(methodId);
  } catch (error) {
    // The card was detached before, or never existed; it cannot be charged in either case.
    if (!isErrorOf(error, "StripeInvalidRequestError")) throw error;
  }
}

/** Charges a saved card. A refused card and an impossible request are results; a missing answer throws. */
async function chargeSaved(
  stripe: Stripe,
  { order, customerId, methodId, amountCents, idempotencyKey }: SavedCharge,
): Promise<ChargeResult> {
  try {
    const intent = await stripe.paymentIntents.create(
      {
        amount: Number(amountCents),
        currency: CURRENCY,
        customer: customerId,
        payment_method: methodId,
        allowed_payment_method_types: ["card"],
        off_session: true,
        confirm: true,
        metadata: metadataOf(order),
      },
      { ...ONCE, idempotencyKey: `${order.installation}:${idempotencyKey}` },
    );
    return resultOf(intent);
  } catch (error) {
    if (!isErrorOf(error, "StripeCardError") && !isErrorOf(error, "StripeInvalidRequestError")) throw error;
    return { kind: "declined", intentId: error.payment_intent?.id, reason: messageOf(error) };
  }
}

async function refund(stripe: Stripe, { intentId, amountCents, idempotencyKey }: RefundRequest): Promise<RefundResult> {
  const wish = { payment_intent: intentId, amount: Number(amountCents) };
  try {
    await stripe.refunds.create(wish, { ...ONCE, idempotencyKey });
    return { kind: "asked" };
  } catch (error) {
    if (!isErrorOf(error, "StripeInvalidRequestError")) throw error;
    return { kind: "refused", reason: messageOf(error) };
  }
}

async function payOut(
  stripe: Stripe,
  { payoutId, installation, destination, amountCents, isRepeated }: PayOutRequest,
): Promise<PayOutResult> {
  const group = `${installation}:payout:${payoutId}`;
  try {
    // Stripe forgets keys after a day, but its transfers can be found forever.
    const [sent] = isRepeated ? (await stripe.transfers.list({ transfer_group: group, limit: 1 })).data : [];
    if (sent !== undefined) return { kind: "paid", reference: sent.id };
    const transfer = await stripe.transfers.create(
      {
        amount: Number(amountCents),
        currency: CURRENCY,
        destination,
        transfer_group: group,
        metadata: { berth_installation: installation, berth_payout: String(payoutId) },
      },
      { ...ONCE, idempotencyKey: group },
    );
    return { kind: "paid", reference: transfer.id };
  } catch (error) {
    if (!isErrorOf(error, "StripeInvalidRequestError")) throw error;
    // The house's own Stripe balance is empty for now, which is not the host's fault.
    if (error.code === "balance_insufficient") throw error;
    return { kind: "refused", reason: messageOf(error) };
  }
}

function parseWebhook(
  { webhooks }: Stripe,
  told: { readonly rawBody: Buffer; readonly signature: string; readonly now: Date; readonly secret: string },
): ProviderEvent {
  const { rawBody, signature, now, secret } = told;
  let event: Stripe.Event;
  try {
    event = webhooks.constructEvent(rawBody, signature, secret, SIGNATURE_TOLERANCE_SECONDS, undefined, now.getTime());
  } catch (error) {
    const text = "The signature does not fit the request.";
    throw invalid("stripe-signature", text, "invalid_signature", { cause: error });
  }
  return readStripeEvent(event);
}

function metadataOf({ installation, paymentId }: OrderRef) {
  return { berth_installation: installation, berth_payment: String(paymentId) };
}

function keyOf(what: string, { installation, paymentId }: OrderRef): string {
  return `${installation}:${what}:${paymentId}`;
}

function pageOf({ id, url }: Stripe.Checkout.Session) {
  if (url === null) throw new AppError("unavailable", "payment_provider_unavailable", "Stripe gave no page to pay on.");
  return { sessionId: id, url };
}

function resultOf(intent: Stripe.PaymentIntent): ChargeResult {
  const { id: intentId, status } = intent;
  if (status === "succeeded") {
    return { kind: "paid", intentId, amountCents: BigInt(intent.amount_received), currency: intent.currency };
  }
  if (status === "processing") return { kind: "waiting", intentId };
  return { kind: "declined", intentId, reason: intent.last_payment_error?.message ?? `the payment is ${status}` };
}
