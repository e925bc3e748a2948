// A stand-in for Stripe: a real HTTP server on the loopback that speaks the handful of requests that Berth makes, for the
// official library to talk to. It is no Stripe: it takes every request of that form, remembers Idempotency-Keys as Stripe
// does, and moves no money. Events are signed by the official library, with the secret of the test.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Stripe } from "stripe";
import type { StripeSettings } from "../../../server/src/domains/money/payments/provider/stripe/stripe-client.ts";

type Fields = Readonly<Record<string, string>>;
type Body = Readonly<Record<string, unknown>>;
type Answer = { readonly status: number; readonly body: Body };
export type StripeEvent = { readonly id: string; readonly type: string; readonly payload: string };

type Session = {
  readonly id: string;
  readonly mode: "payment" | "setup";
  readonly customer: string;
  readonly amount: number;
  readonly metadata: Fields;
  readonly savesCard: boolean;
  readonly url: string;
};
type Method = { readonly id: string; customer: string | null; readonly last4: string };
type Intent = { readonly id: string; readonly amount: number; readonly metadata: Fields; status: string };
type Transfer = {
  readonly id: string;
  readonly amount: number;
  readonly destination: string;
  readonly transfer_group: string;
  readonly metadata: Fields;
};

/** `before`: the request is lost on its way. `after`: it is done, and the answer is lost. */
export type Outage = "none" | "before" | "after";

const NOT_FOUND = {
  status: 404,
  body: { error: { type: "invalid_request_error", code: "resource_missing", message: "There is no such thing." } },
};

export class StripeServer {
  readonly settings: StripeSettings;
  readonly sessions = new Map<string, Session>();
  readonly methods = new Map<string, Method>();
  readonly intents = new Map<string, Intent>();
  readonly transfers: Transfer[] = [];
  readonly refunds: { readonly intent: string; readonly amount: number }[] = [];
  /** The way in which requests that move money fail. */
  outage: Outage = "none";
  /** The reason for which cards are declined; undefined while they are accepted. */
  decline: string | undefined;
  /** The reason for which transfers are refused. */
  refusal: string | undefined;
  /** Customers that were deleted there. */
  readonly goneCustomers = new Set<string>();
  /** True when charges are decided later. */
  isSlow = false;
  readonly #answers = new Map<string, { readonly digest: string; readonly answer: Answer }>();
  readonly #library: Stripe;
  #count = 0;
  readonly close: () => Promise<void>;

  private constructor(port: number, close: () => Promise<void>) {
    this.settings = {
      secretKey: "sk_test_standin",
      webhookSecret: "whsec_standin",
      apiUrl: `http://127.0.0.1:${port}`,
    };
    this.#library = new Stripe(this.settings.secretKey);
    this.close = close;
  }

  static async start(): Promise<StripeServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const standIn = new StripeServer(port, async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    });
    server.on("request", (request, response) => void standIn.#serve(request, response));
    return standIn;
  }

  /** The user pays on the page; returns the events of Stripe, in their usual order. */
  pay(
    session: Session,
    overrides: { readonly amount?: number; readonly currency?: string } = {},
  ): readonly StripeEvent[] {
    const { amount = session.amount, currency = "usd" } = overrides;
    const intent = this.#makeIntent(amount, session.metadata, "succeeded");
    const attached = session.savesCard ? [this.#attach(session.customer)] : [];
    return [
      ...attached,
      this.event("payment_intent.succeeded", this.#viewIntent(intent, currency)),
      this.event("checkout.session.completed", {
        ...this.#viewSession(session),
        payment_status: "paid",
        payment_intent: intent.id,
        amount_total: amount,
        currency,
      }),
    ];
  }

  /** The user saves a card on the page; returns the events of Stripe. */
  saveCard(session: Session, last4 = "4242"): readonly StripeEvent[] {
    return [
      this.#attach(session.customer, last4),
      this.event("checkout.session.completed", {
        ...this.#viewSession(session),
        payment_status: "no_payment_required",
      }),
    ];
  }

  /** The event in which Stripe reports the intent as it is now. */
  tell(intentId: string): StripeEvent {
    const intent = this.intents.get(intentId);
    if (intent === undefined) throw new Error(`there is no intent ${intentId}`);
    const type = intent.status === "succeeded" ? "payment_intent.succeeded" : "payment_intent.payment_failed";
    return this.event(type, this.#viewIntent(intent, "usd"));
  }

  refunded(intentId: string, amountSoFar: number): StripeEvent {
    const charge = { id: `ch_${intentId}`, object: "charge", payment_intent: intentId, amount_refunded: amountSoFar };
    return this.event("charge.refunded", charge);
  }

  disputed(intentId: string, amount: number, status: string): StripeEvent {
    const dispute = { id: `dp_${intentId}`, object: "dispute", payment_intent: intentId, amount, status };
    return this.event(status === "needs_response" ? "charge.dispute.created" : "charge.dispute.closed", dispute);
  }

  /** The event in which Stripe reports that a refund of a payment did not reach its card. */
  refundFailed(intentId: string, amount: number): StripeEvent {
    const refund = { id: `re_${intentId}`, object: "refund", payment_intent: intentId, amount, status: "failed" };
    return this.event("refund.failed", refund);
  }

  /** The event in which Stripe reports the part of a transfer that was taken back so far. */
  reversed(transfer: Transfer, amountSoFar = transfer.amount): StripeEvent {
    const isWhole = amountSoFar === transfer.amount;
    return this.event("transfer.reversed", { ...transfer, amount_reversed: amountSoFar, reversed: isWhole });
  }

  detached(methodId: string): StripeEvent {
    return this.event("payment_method.detached", { id: methodId, object: "payment_method", customer: null });
  }

  event(type: string, object: Body): StripeEvent {
    const id = this.#nextId("evt");
    return { id, type, payload: JSON.stringify({ id, object: "event", type, data: { object } }) };
  }

  /** The request with which Stripe delivers an event, signed at this moment. */
  delivery({ payload }: StripeEvent, at: Date, secret = this.settings.webhookSecret) {
    const timestamp = Math.floor(at.getTime() / 1000);
    const signature = this.#library.webhooks.generateTestHeaderString({ payload, secret, timestamp });
    return {
      method: "POST" as const,
      url: "/api/v0/billing/stripe/webhook/",
      headers: { "content-type": "application/json", "stripe-signature": signature },
      payload,
    };
  }

  /** The page that was made last. */
  get lastSession(): Session {
    const last = [...this.sessions.values()].at(-1);
    if (last === undefined) throw new Error("nobody asked for a page");
    return last;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://stand-in");
    const fields = Object.fromEntries(new URLSearchParams(request.method === "GET" ? searchParams : text));
    const movesMoney = request.method === "POST" && /^\/v1\/(payment_intents|transfers|refunds)$/.test(pathname);
    const outage = movesMoney ? this.outage : "none";
    if (outage === "before") return void request.socket.destroy();
    const { status, body } = this.#once(request, pathname, fields);
    if (outage === "after") return void request.socket.destroy();
    response.writeHead(status, { "content-type": "application/json", "request-id": this.#nextId("req") });
    response.end(JSON.stringify(body));
  }

  /** Answers a key that was used before as the first time, and refuses it for anything else. */
  #once(request: IncomingMessage, pathname: string, fields: Fields): Answer {
    const key = request.headers["idempotency-key"];
    const route = `${request.method} ${pathname}`;
    if (typeof key !== "string" || request.method !== "POST") return this.#answer(route, fields);
    const digest = createHash("sha256")
      .update(`${route} ${JSON.stringify(fields)}`)
      .digest("hex");
    const known = this.#answers.get(key);
    if (known !== undefined) {
      const error = { type: "idempotency_error", message: "The key was used for something else." };
      return known.digest === digest ? known.answer : { status: 400, body: { error } };
    }
    const answer = this.#answer(route, fields);
    this.#answers.set(key, { digest, answer });
    return answer;
  }

  #answer(route: string, fields: Fields): Answer {
    const ok = (body: Body): Answer => ({ status: 200, body });
    const detach = /^POST \/v1\/payment_methods\/(\w+)\/detach$/.exec(route)?.[1];
    if (detach !== undefined) return this.#detach(detach);
    const intentId = /^GET \/v1\/payment_intents\/(\w+)$/.exec(route)?.[1];
    const intent = intentId === undefined ? undefined : this.intents.get(intentId);
    if (intent !== undefined) return ok(this.#viewIntent(intent, "usd"));
    switch (route) {
      case "POST /v1/customers":
        return ok({ id: this.#nextId("cus"), object: "customer", email: fields["email"] });
      case "POST /v1/checkout/sessions":
        return ok(this.#viewSession(this.#makeSession(fields)));
      case "GET /v1/payment_methods": {
        if (this.goneCustomers.has(fields["customer"] ?? "")) return NOT_FOUND;
        const own = [...this.methods.values()].filter(({ customer }) => customer === fields["customer"]);
        return ok({ object: "list", data: own.map((method) => this.#viewMethod(method)), has_more: false });
      }
      case "POST /v1/payment_intents":
        return this.#charge(fields);
      case "POST /v1/refunds":
        this.refunds.push({ intent: fields["payment_intent"] ?? "", amount: Number(fields["amount"]) });
        return ok({ id: this.#nextId("re"), object: "refund", status: "succeeded" });
      case "GET /v1/transfers": {
        const sent = this.transfers.filter((transfer) => transfer.transfer_group === fields["transfer_group"]);
        return ok({ object: "list", data: sent, has_more: false });
      }
      case "POST /v1/transfers":
        return this.#transfer(fields);
      default:
        return NOT_FOUND;
    }
  }

  #makeSession(fields: Fields): Session {
    const id = this.#nextId("cs_test");
    const session: Session = {
      id,
      mode: fields["mode"] === "setup" ? "setup" : "payment",
      customer: fields["customer"] ?? "",
      amount: Number(fields["line_items[0][price_data][unit_amount]"] ?? 0),
      metadata: metadataIn(fields, "metadata"),
      savesCard: fields["payment_intent_data[setup_future_usage]"] === "off_session",
      url: `${this.settings.apiUrl}/pay/${id}`,
    };
    this.sessions.set(id, session);
    return session;
  }

  #charge(fields: Fields): Answer {
    const metadata = metadataIn(fields, "metadata");
    const method = this.methods.get(fields["payment_method"] ?? "");
    if (method === undefined || method.customer !== fields["customer"]) return NOT_FOUND;
    const status = this.decline !== undefined ? "requires_payment_method" : this.isSlow ? "processing" : "succeeded";
    const intent = this.#makeIntent(Number(fields["amount"]), metadata, status);
    const view = this.#viewIntent(intent, fields["currency"] ?? "");
    if (this.decline === undefined) return { status: 200, body: view };
    const error = { type: "card_error", code: "card_declined", message: this.decline, payment_intent: view };
    return { status: 402, body: { error } };
  }

  #transfer(fields: Fields): Answer {
    if (this.refusal !== undefined) {
      return { status: 400, body: { error: { type: "invalid_request_error", message: this.refusal } } };
    }
    const transfer = {
      id: this.#nextId("tr"),
      object: "transfer",
      amount: Number(fields["amount"]),
      destination: fields["destination"] ?? "",
      transfer_group: fields["transfer_group"] ?? "",
      metadata: metadataIn(fields, "metadata"),
    };
    this.transfers.push(transfer);
    return { status: 200, body: transfer };
  }

  #detach(id: string): Answer {
    const method = this.methods.get(id);
    if (method === undefined || method.customer === null) return NOT_FOUND;
    method.customer = null;
    return { status: 200, body: this.#viewMethod(method) };
  }

  #attach(customer: string, last4 = "4242"): StripeEvent {
    const method = { id: this.#nextId("pm"), customer, last4 };
    this.methods.set(method.id, method);
    return this.event("payment_method.attached", this.#viewMethod(method));
  }

  #makeIntent(amount: number, metadata: Fields, status: string): Intent {
    const intent = { id: this.#nextId("pi"), amount, metadata, status };
    this.intents.set(intent.id, intent);
    return intent;
  }

  #viewIntent({ id, amount, metadata, status }: Intent, currency: string): Body {
    const received = status === "succeeded" ? amount : 0;
    const failure = status === "requires_payment_method" ? { message: this.decline ?? "declined" } : null;
    const common = { id, object: "payment_intent", amount, metadata, status, currency };
    return { ...common, amount_received: received, last_payment_error: failure };
  }

  #viewSession({ id, mode, customer, metadata, url }: Session): Body {
    return { id, object: "checkout.session", mode, customer, metadata, url, payment_intent: null };
  }

  #viewMethod({ id, customer, last4 }: Method): Body {
    const card = { brand: "visa", last4, exp_month: 12, exp_year: 2034 };
    return { id, object: "payment_method", type: "card", customer, card };
  }

  #nextId(prefix: string): string {
    return `${prefix}_${(this.#count += 1)}x${this.settings.apiUrl.split(":").at(-1)}`;
  }
}

function metadataIn(fields: Fields, name: string): Fields {
  const entries = Object.entries(fields).flatMap(([field, value]) => {
    const key = new RegExp(`^${name}\\[(\\w+)\\]$`).exec(field)?.[1];
    return key === undefined ? [] : [[key, value] as const];
  });
  return Object.fromEntries(entries);
}
