import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import type { TestContext } from "node:test";
import { createLog } from "../../../server/src/base/log.ts";
import { createEncryption } from "../../../server/src/base/encryption.ts";
import { auditLedger, balanceOf } from "../../../server/src/domains/money/ledger/index.ts";
import {
  paymentLoops,
  paymentRoutes,
  type PaymentProvider,
} from "../../../server/src/domains/money/payments/for-assembly.ts";
import { createOfflineProvider } from "../../../server/src/domains/money/payments/provider/offline-provider.ts";
import { createStripeProvider } from "../../../server/src/domains/money/payments/provider/stripe/stripe-provider.ts";
import { aCaller, type TestCaller } from "../fixtures.ts";
import { testHttp, type TestAnswer, type TestCall } from "../network/http.ts";
import { ManualClock } from "../manual-clock.ts";
import { testDatabase, type TestDatabase } from "../database/postgres.ts";
import { StripeServer, type StripeEvent } from "./stripe-server.ts";

/** The routes and loops of payments over a database of its own, with a clock that only the test moves. */
export type PaymentShop = {
  readonly env: TestDatabase;
  readonly clock: ManualClock;
  readonly stripe: StripeServer;
  /** Log lines of level warn and above. */
  readonly complaints: readonly string[];
  readonly provider: PaymentProvider;
  user(options?: { readonly isAdmin?: boolean }): Promise<TestCaller>;
  call(
    as: TestCaller,
    method: NonNullable<TestCall["method"]>,
    url: string,
    body?: unknown,
    key?: string,
  ): Promise<TestAnswer>;
  /** Delivers an event of Stripe now; returns the answer of the routes. */
  deliver(event: StripeEvent): Promise<TestAnswer>;
  /** Delivers several events, one after another; each must be taken. */
  deliverAll(events: readonly StripeEvent[]): Promise<void>;
  send(delivery: Delivery): Promise<TestAnswer>;
  runLoop(name: string): Promise<unknown>;
  /** The credit that a user can spend, in nano-dollars. */
  creditOf(user: Pick<TestCaller, "id">): Promise<bigint>;
  assertBooks(): Promise<void>;
};

type Delivery = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: string;
};

export type PaymentShopOptions = {
  /** True for an installation that takes no cards. */
  readonly isOffline?: boolean;
  readonly clock?: ManualClock;
  /** Wraps the provider of the shop. */
  readonly wrap?: (provider: PaymentProvider) => PaymentProvider;
};

export async function aPaymentShop(t: TestContext, options: PaymentShopOptions = {}): Promise<PaymentShop> {
  const env = await testDatabase(t);
  const stripe = await StripeServer.start();
  t.after(() => stripe.close());
  const { clock = new ManualClock(), wrap = (provider) => provider, isOffline = false } = options;
  const { database } = env;
  const complaints: string[] = [];
  const log = createLog("warn", { write: (line) => void complaints.push(line) });
  const encryption = createEncryption(Buffer.alloc(32, "payments"), randomBytes);
  const provider = wrap(isOffline ? createOfflineProvider() : createStripeProvider(stripe.settings));
  const ports = { provider, encryption, log, publicUrl: "https://gpu.example.com" };
  const { scope, call } = await testHttp(database, (routes) => paymentRoutes(routes, ports), { clock });
  t.after(() => scope.app.close());
  const loops = paymentLoops({ database, clock, log, encryption, provider });
  const send = ({ url, headers, payload }: Delivery) => call({ method: "POST", url, headers, text: payload });
  const deliver = (event: StripeEvent) => send(stripe.delivery(event, clock.now()));
  return {
    env,
    clock,
    stripe,
    complaints,
    provider,
    send,
    deliver,
    user: ({ isAdmin = false } = {}) => aCaller(database, { isAdmin }),
    call: (as, method, url, body, key) =>
      call({
        method,
        url,
        secret: as.secret,
        ...(body === undefined ? {} : { body }),
        headers: { "idempotency-key": key ?? randomUUID() },
      }),
    async deliverAll(events) {
      for (const event of events) {
        const answer = await deliver(event);
        assert.equal(answer.status, 200, `${event.type}: ${answer.text}`);
      }
    },
    async runLoop(name) {
      const loop = loops.find((candidate) => candidate.name === name);
      assert.ok(loop, `there is no loop ${name}`);
      return loop.run();
    },
    creditOf: async ({ id }) => (await balanceOf(database.kysely, id)).balance,
    async assertBooks() {
      assert.deepEqual((await auditLedger(database.kysely)).differences, []);
    },
  };
}

/** Saves a card for the user, with the events that Stripe sends for it. */
export async function saveCard(shop: PaymentShop, user: TestCaller, last4 = "4242"): Promise<void> {
  const answer = await shop.call(user, "POST", "/api/v0/billing/payment_methods/", {});
  assert.equal(answer.status, 200, answer.text);
  await shop.deliverAll(shop.stripe.saveCard(shop.stripe.lastSession, last4));
}
