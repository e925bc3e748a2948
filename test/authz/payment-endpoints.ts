// The rows of card payments and of payouts to hosts.
import { placePayoutHold } from "../../server/src/domains/money/payments/index.ts";
import { asId, type UserId } from "../../server/src/base/ids.ts";
import { creditOf, earningsOf, ISSUANCE, postTransfers } from "../../server/src/domains/money/ledger/index.ts";
import { aCaller, inTransaction, type TestCaller } from "../support/fixtures.ts";
import { makeFundedUser, transferOf } from "../support/money/ledger.ts";
import type { StripeEvent } from "../support/money/stripe-server.ts";
import { at, onObject, plain, type Row } from "./row.ts";
import type { Target, World } from "./world.ts";

const DOLLAR = 1_000_000_000n;
const WEBHOOK = "/api/v0/billing/stripe/webhook/";

/** An event of Stripe as it is delivered now. */
function delivered({ stripe }: World, event: StripeEvent): Target {
  // The servers of these tests have the time of the machine.
  const { url, headers, payload } = stripe.delivery(event, new Date(Date.now()));
  return { path: url, headers, text: payload };
}

async function tell(world: World, events: readonly StripeEvent[]): Promise<void> {
  for (const event of events) await world.send("POST", delivered(world, event));
}

async function aCard(world: World, user: TestCaller): Promise<number> {
  await world.done("POST", at("/api/v0/billing/payment_methods/", {}), user);
  await tell(world, world.stripe.saveCard(world.stripe.lastSession));
  const { payment_methods: cards } = await world.done("GET", at("/api/v0/billing/payment_methods/"), user);
  return Number((cards as readonly { readonly id: number }[]).at(-1)?.id);
}

async function aPayment(world: World, user: TestCaller): Promise<number> {
  const { payment_id: id } = await world.done("POST", at("/api/v0/billing/checkout/", { amount: 10 }), user);
  await tell(world, world.stripe.pay(world.stripe.lastSession));
  return Number(id);
}

/** A payout to a new host: each Friday brings one at most. */
async function aPayout({ database }: World): Promise<number> {
  const { rows } = await database.pool.query<{ id: number }>(
    `insert into users (email, username, created_at) values (gen_random_uuid() || '@example.com', 'host', now())
     returning id`,
  );
  const userId = asId<UserId>(rows[0]!.id);
  const sent = transferOf({ debit: ISSUANCE, credit: earningsOf(userId), amount: 30n * DOLLAR, code: "usage_gpu" });
  await inTransaction(database, (tx) => postTransfers(tx, [sent]));
  const made = await database.pool.query<{ id: number }>(
    `insert into payouts (user_id, invoiced_at, due_at, earned_nanos, fee_ppm, fee_nanos, amount_nanos, created_at)
     values ($1, now(), now() + interval '7 days', 30000000000, 0, 0, 30000000000, now()) returning id`,
    [userId],
  );
  return made.rows[0]!.id;
}

/** A hold on the owner's payouts; a host has at most one of each kind. */
async function aPayoutHold({ database, owner }: World): Promise<number> {
  const hold = { userId: owner.id, kind: "unverified", reason: "No machine is verified." } as const;
  return (await inTransaction(database, (tx) => placePayoutHold(tx, hold))).id;
}

const method = { method: "paypal", details: { email: "host@example.com" } };

/** A freeze of a new account, so that the owner's keys go on working. */
async function aFreeze(world: World): Promise<number> {
  const somebody = await aCaller(world.database);
  const body = { user: String(somebody.id), reason: "review" };
  return Number((await world.done("POST", at("/api/v0/admin/freezes/", body), world.admin))["id"]);
}

export const paymentEndpoints = {
  "POST /api/v0/billing/checkout/": plain("billing_write", "/api/v0/billing/checkout/", { amount: 10 }),
  "GET /api/v0/billing/payments/": plain("billing_read", "/api/v0/billing/payments/"),
  "GET /api/v0/billing/payment_methods/": plain("billing_read", "/api/v0/billing/payment_methods/"),
  "POST /api/v0/billing/payment_methods/": plain("billing_write", "/api/v0/billing/payment_methods/", {}),
  "PUT /api/v0/billing/payment_methods/{id}/": onObject("billing_write", "id", aCard, (id) =>
    at(`/api/v0/billing/payment_methods/${id}/`, { is_default: true }),
  ),
  "DELETE /api/v0/billing/payment_methods/{id}/": onObject("billing_write", "id", aCard, (id) =>
    at(`/api/v0/billing/payment_methods/${id}/`),
  ),
  "GET /api/v0/billing/autobill/": plain("billing_read", "/api/v0/billing/autobill/"),
  "PUT /api/v0/billing/autobill/": plain("billing_write", "/api/v0/billing/autobill/", { threshold: 10 }),
  "GET /api/v0/billing/payouts/": plain("billing_read", "/api/v0/billing/payouts/"),
  "GET /api/v0/billing/payout_method/": plain("billing_read", "/api/v0/billing/payout_method/"),
  "PUT /api/v0/billing/payout_method/": plain("billing_write", "/api/v0/billing/payout_method/", method),
  "GET /api/v0/admin/payouts/": plain("admin", "/api/v0/admin/payouts/"),
  "GET /api/v0/admin/payouts/{id}/": {
    needs: "admin",
    call: async (world) => at(`/api/v0/admin/payouts/${await aPayout(world)}/`),
  },
  "PUT /api/v0/admin/payouts/{id}/": {
    needs: "admin",
    call: async (world) => at(`/api/v0/admin/payouts/${await aPayout(world)}/`, { state: "paid", reference: "R-1" }),
  },
  "POST /api/v0/admin/earnings/release/": {
    needs: "admin",
    call: async (world) => {
      const host = await aCaller(world.database);
      const renter = await makeFundedUser(world.database, 3n * DOLLAR);
      const sides = { debit: creditOf(renter), credit: earningsOf(host.id), amount: 3n * DOLLAR };
      await inTransaction(world.database, (tx) => postTransfers(tx, [transferOf({ ...sides, code: "usage_gpu" })]));
      return at("/api/v0/admin/earnings/release/", { user_id: host.id, amount: 1, reason: "known to us" });
    },
  },
  "POST /api/v0/admin/earnings/take_back/": {
    needs: "admin",
    call: async (world) => {
      const host = await aCaller(world.database);
      const sides = { debit: ISSUANCE, credit: earningsOf(host.id), amount: 3n * DOLLAR };
      await inTransaction(world.database, (tx) => postTransfers(tx, [transferOf({ ...sides, code: "usage_gpu" })]));
      const about = { user: String(host.id), reason: "never ran", reference: "case-1" };
      return at("/api/v0/admin/earnings/take_back/", { ...about, amount: 1 });
    },
  },
  "POST /api/v0/admin/corrections/": {
    needs: "admin",
    call: async (world) => {
      const { id } = await aCaller(world.database);
      const about = { user: String(id), reason: "billed twice", reference: "case-1" };
      return at("/api/v0/admin/corrections/", { ...about, amount: 1 });
    },
  },
  "GET /api/v0/admin/payout_holds/": plain("admin", "/api/v0/admin/payout_holds/"),
  "GET /api/v0/admin/disputes/": plain("admin", "/api/v0/admin/disputes/"),
  "POST /api/v0/admin/payout_holds/": {
    needs: "admin",
    call: async (world) => at("/api/v0/admin/payout_holds/", { user: String(world.owner.id), reason: "review" }),
  },
  "PUT /api/v0/admin/payout_holds/{id}/": {
    needs: "admin",
    call: async (world) => at(`/api/v0/admin/payout_holds/${await aPayoutHold(world)}/`, { reason: "reviewed" }),
  },
  "GET /api/v0/admin/freezes/": plain("admin", "/api/v0/admin/freezes/"),
  "POST /api/v0/admin/freezes/": {
    needs: "admin",
    call: async (world) => {
      const { id } = await aCaller(world.database);
      return at("/api/v0/admin/freezes/", { user: String(id), reason: "review" });
    },
  },
  "PUT /api/v0/admin/freezes/{id}/": {
    needs: "admin",
    call: async (world) => at(`/api/v0/admin/freezes/${await aFreeze(world)}/`, { reason: "reviewed" }),
  },
  "POST /api/v0/admin/payments/{id}/refund/": {
    needs: "admin",
    call: async (world) => at(`/api/v0/admin/payments/${await aPayment(world, world.owner)}/refund/`, { amount: 1 }),
  },
} satisfies Readonly<Record<string, Row>>;

export const hiddenPaymentEndpoints = {
  "GET /api/v0/billing/returned/": plain("public", "/api/v0/billing/returned/"),
  [`POST ${WEBHOOK}`]: {
    needs: "public",
    call: (world) => delivered(world, world.stripe.event("customer.created", { id: "cus_1" })),
  },
} satisfies Readonly<Record<string, Row>>;
