import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { inTransaction, type TestCaller } from "../../../../../../test/support/fixtures.ts";
import { transferOf } from "../../../../../../test/support/money/ledger.ts";
import { aPaymentShop, type PaymentShop } from "../../../../../../test/support/money/payments.ts";
import type { StripeEvent } from "../../../../../../test/support/money/stripe-server.ts";
import { creditOf, FEES, postTransfer } from "../../ledger/index.ts";

const DOLLAR = 1_000_000_000n;

const checkout = (shop: PaymentShop, as: TestCaller, body: object, key?: string) =>
  shop.call(as, "POST", "/api/v0/billing/checkout/", body, key);

test("a payment on the page becomes credit once, for any number and order of events", async (t) => {
  const shop = await aPaymentShop(t);
  const orders = [(e: StripeEvent[]) => e, (e: StripeEvent[]) => e.toReversed(), (e: StripeEvent[]) => [...e, ...e]];
  for (const order of orders) {
    const user = await shop.user();
    const answer = await checkout(shop, user, { amount: 25.5, save_card: true });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.body["url"], shop.stripe.lastSession.url);
    assert.equal(await shop.creditOf(user), 0n, "a page is no money");
    await shop.deliverAll(order([...shop.stripe.pay(shop.stripe.lastSession)]));
    assert.equal(await shop.creditOf(user), (255n * DOLLAR) / 10n);
    const { body } = await shop.call(user, "GET", "/api/v0/billing/payments/");
    const [payment] = body["payments"] as readonly Record<string, unknown>[];
    assert.deepEqual([payment?.["state"], payment?.["amount"]], ["paid", 25.5]);
  }
  await shop.assertBooks();
});

test("the same event and the two events of one payment, delivered at once, credit once", async (t) => {
  const shop = await aPaymentShop(t);
  const user = await shop.user();
  await checkout(shop, user, { amount: 10 });
  const events = shop.stripe.pay(shop.stripe.lastSession);
  const answers = await Promise.all([...events, ...events, ...events].map((event) => shop.deliver(event)));
  assert.ok(answers.every(({ status }) => status === 200));
  assert.equal(await shop.creditOf(user), 10n * DOLLAR);
  const { rows } = await shop.env.pool.query("select kind from notices where user_id = $1", [user.id]);
  assert.deepEqual(rows, [{ kind: "client:payment_receipt" }]);
});

test("an event without a signature, with another signature, changed or old is refused and changes nothing", async (t) => {
  const shop = await aPaymentShop(t);
  const { stripe } = shop;
  const user = await shop.user();
  await checkout(shop, user, { amount: 10 });
  const [event] = stripe.pay(stripe.lastSession);
  assert.ok(event);
  const good = stripe.delivery(event, shop.clock.now());
  const changed = good.payload.replace('"amount_received":1000', '"amount_received":9000');
  assert.notEqual(changed, good.payload);
  const past = new Date(shop.clock.now().getTime() - 301_000);
  const refused = [
    { ...good, payload: changed },
    { ...good, headers: { "content-type": "application/json", "stripe-signature": "t=1,v1=00" } },
    { ...good, headers: { "content-type": "application/json" } },
    stripe.delivery(event, shop.clock.now(), "whsec_other"),
    stripe.delivery(event, past),
    { ...good, payload: "{" },
  ];
  for (const delivery of refused) {
    const response = await shop.send(delivery);
    assert.equal(response.status, 400, response.text);
    assert.equal(response.body.error, "invalid_signature");
  }
  assert.equal(await shop.creditOf(user), 0n);
  assert.equal((await shop.send(good)).status, 200);
  assert.equal(await shop.creditOf(user), 10n * DOLLAR);
});

test("events that Berth does not know, and those of other shops on the same account, are accepted and ignored", async (t) => {
  const shop = await aPaymentShop(t);
  const { stripe } = shop;
  const theirs = { id: "pi_theirs", object: "payment_intent", amount_received: 500, currency: "usd" };
  const metadata = { berth_installation: randomUUID(), berth_payment: "1" };
  await shop.deliverAll([
    stripe.event("customer.created", { id: "cus_x" }),
    stripe.event("payment_intent.succeeded", { ...theirs, metadata: {} }),
    stripe.event("payment_intent.succeeded", { ...theirs, metadata }),
    stripe.refunded("pi_theirs", 500),
  ]);
  await shop.assertBooks();
});

test("a payment to a connected account is not credited, even if it names an order of this database", async (t) => {
  const shop = await aPaymentShop(t);
  const user = await shop.user();
  await checkout(shop, user, { amount: 10 });
  const events = shop.stripe.pay(shop.stripe.lastSession);
  const of = (account: string | null) =>
    events.map(({ payload, ...event }) => {
      const told = { ...(JSON.parse(payload) as object), account };
      return { ...event, payload: JSON.stringify(told) };
    });
  await shop.deliverAll(of("acct_1TestHost0001"));
  assert.equal(await shop.creditOf(user), 0n);
  await shop.deliverAll(of(null));
  assert.equal(await shop.creditOf(user), 10n * DOLLAR, "the same of the house's own account is");
});

test("a payment that differs from its request is not credited, and alarms the operator", async (t) => {
  const shop = await aPaymentShop(t);
  for (const overrides of [{ amount: 999 }, { currency: "eur" }]) {
    const user = await shop.user();
    await checkout(shop, user, { amount: 10 });
    await shop.deliverAll(shop.stripe.pay(shop.stripe.lastSession, overrides));
    assert.equal(await shop.creditOf(user), 0n);
    assert.ok(shop.complaints.some((line) => line.includes("differs from its request")));
  }
});

test("a repeated checkout returns the same page, and its key is refused for anything else", async (t) => {
  const shop = await aPaymentShop(t);
  const user = await shop.user();
  const key = randomUUID();
  const answers = await Promise.all([1, 2, 3].map(() => checkout(shop, user, { amount: 10 }, key)));
  assert.deepEqual(new Set(answers.map(({ text }) => text)).size, 1, answers[0]?.text);
  assert.equal(shop.stripe.sessions.size, 1);
  const other = await checkout(shop, user, { amount: 11 }, key);
  assert.deepEqual([other.status, other.body["error"]], [409, "idempotency_key_reused"]);
});

test("an amount below five dollars, with fractions of a cent, or above the maximum is refused by the name of its field", async (t) => {
  const shop = await aPaymentShop(t);
  const user = await shop.user();
  for (const amount of [0, 4.99, 5.001, 1_000_000, -5, "5", null]) {
    const answer = await checkout(shop, user, { amount });
    assert.deepEqual([answer.status, answer.body["field"]], [400, "amount"], String(amount));
  }
  assert.equal((await checkout(shop, user, { amount: 5 })).status, 200);
});

test("without Stripe keys, an attempt to pay by card is answered with how to get credit", async (t) => {
  const shop = await aPaymentShop(t, { isOffline: true });
  const user = await shop.user();
  const answers = [
    await checkout(shop, user, { amount: 10 }),
    await shop.call(user, "POST", "/api/v0/billing/payment_methods/", {}),
    await shop.call(user, "GET", "/api/v0/billing/payment_methods/"),
  ];
  for (const { status, body } of answers) {
    assert.deepEqual([status, body.error], [409, "payments_not_configured"]);
    assert.match(body.msg, /administrator gives credit/);
  }
  for (const loop of ["charge-due-cards", "sync-cards", "ask-for-refunds", "send-due-payouts"])
    await shop.runLoop(loop);
});

test("a returned payment is taken from where the credit went, and the rest is its user's debt, not the house's loss", async (t) => {
  const shop = await aPaymentShop(t);
  const { stripe } = shop;
  const [user, friend] = [await shop.user(), await shop.user()];
  await checkout(shop, user, { amount: 100 });
  const [paid] = stripe.pay(stripe.lastSession);
  assert.ok(paid);
  await shop.deliverAll([paid]);
  const intent = [...stripe.intents.keys()].at(-1) ?? "";
  await shop.deliverAll([stripe.refunded(intent, 3000)]);
  assert.equal(await shop.creditOf(user), 70n * DOLLAR);
  // A second, partial refund reports the sum; the earlier sum may still arrive after it.
  await shop.deliverAll([stripe.refunded(intent, 4000), stripe.refunded(intent, 3000)]);
  assert.equal(await shop.creditOf(user), 60n * DOLLAR);
  const gift = transferOf({ debit: creditOf(user.id), credit: creditOf(friend.id), amount: 50n * DOLLAR });
  const used = transferOf({ debit: creditOf(friend.id), credit: FEES, amount: 20n * DOLLAR, code: "usage_gpu" });
  await inTransaction(shop.env.database, (tx) => postTransfer(tx, gift));
  await inTransaction(shop.env.database, (tx) => postTransfer(tx, used));
  await shop.deliverAll([stripe.refunded(intent, 10_000)]);
  assert.deepEqual([await shop.creditOf(user), await shop.creditOf(friend)], [-20n * DOLLAR, 0n]);
  assert.deepEqual(await houseBalances(shop), { stripe: 0n });
  assert.ok(shop.complaints.some((line) => line.includes("its user has a debt")));
  const { rows } = await shop.env.pool.query(
    "select user_id, kind from notices where kind like '%taken_back' order by id desc limit 2",
  );
  assert.deepEqual(
    new Set(rows.map(({ user_id: userId, kind }) => `${userId} ${kind}`)),
    new Set([`${user.id} client:payment_taken_back`, `${friend.id} client:credit_taken_back`]),
  );
  // Later payments pay the debt first; until then nothing is charged or sent to others.
  await checkout(shop, user, { amount: 30 });
  await shop.deliverAll(stripe.pay(stripe.lastSession));
  assert.equal(await shop.creditOf(user), 10n * DOLLAR);
  await shop.assertBooks();
});

test("a refund that does not reach its card alarms the operator with its user, and moves no money", async (t) => {
  const shop = await aPaymentShop(t);
  const { stripe } = shop;
  const user = await shop.user();
  await checkout(shop, user, { amount: 100 });
  await shop.deliverAll(stripe.pay(stripe.lastSession));
  const intent = [...stripe.intents.keys()].at(-1) ?? "";
  const failed = stripe.refundFailed(intent, 3000);
  await shop.deliverAll([stripe.refunded(intent, 3000), failed, failed, stripe.refundFailed("pi_of_another_shop", 1)]);
  assert.equal(await shop.creditOf(user), 70n * DOLLAR);
  const alarms = shop.complaints.filter((line) => line.includes("did not reach its card"));
  assert.equal(alarms.length, 1);
  assert.match(alarms[0] ?? "", new RegExp(`"user_id":${user.id},"refund_id":"re_${intent}","failed_cents":"3000"`));
  await shop.assertBooks();
});

test("a dispute takes the credit and a won dispute returns it, in any order of the events", async (t) => {
  for (const isReversedFirst of [false, true]) {
    const shop = await aPaymentShop(t);
    const { stripe } = shop;
    const user = await shop.user();
    await checkout(shop, user, { amount: 20 });
    await shop.deliverAll(stripe.pay(stripe.lastSession));
    const intent = [...stripe.intents.keys()].at(-1) ?? "";
    const [opened, won] = [stripe.disputed(intent, 2000, "needs_response"), stripe.disputed(intent, 2000, "won")];
    if (!isReversedFirst) {
      await shop.deliverAll([opened]);
      assert.equal(await shop.creditOf(user), 0n);
    }
    await shop.deliverAll(isReversedFirst ? [won, opened] : [won]);
    assert.equal(await shop.creditOf(user), 20n * DOLLAR);
    await shop.assertBooks();
  }
});

test("a bank's warning about a payment takes nothing until funds are withdrawn", async (t) => {
  const shop = await aPaymentShop(t);
  const { stripe } = shop;
  const user = await shop.user();
  await checkout(shop, user, { amount: 20 });
  await shop.deliverAll(stripe.pay(stripe.lastSession));
  const intent = [...stripe.intents.keys()].at(-1) ?? "";
  const tell = (type: string, status: string) =>
    shop.deliverAll([
      stripe.event(type, { id: "dp_1", object: "dispute", payment_intent: intent, amount: 2000, status }),
    ]);
  await tell("charge.dispute.created", "warning_needs_response");
  await tell("charge.dispute.closed", "warning_closed");
  assert.equal(await shop.creditOf(user), 20n * DOLLAR);
  await tell("charge.dispute.funds_withdrawn", "needs_response");
  assert.equal(await shop.creditOf(user), 0n);
  await tell("charge.dispute.closed", "lost");
  assert.equal(await shop.creditOf(user), 0n);
  await shop.assertBooks();
});

test("a refund that is reported before its payment, or together with it, is booked", async (t) => {
  const shop = await aPaymentShop(t);
  const { stripe } = shop;
  for (const isAtOnce of [false, true]) {
    const user = await shop.user();
    await checkout(shop, user, { amount: 20 });
    const paid = stripe.pay(stripe.lastSession);
    const refunded = stripe.refunded([...stripe.intents.keys()].at(-1) ?? "", 500);
    if (isAtOnce) await Promise.all([refunded, ...paid].map((event) => shop.deliver(event)));
    else await shop.deliverAll([refunded, ...paid]);
    assert.equal(await shop.creditOf(user), 15n * DOLLAR);
  }
  await shop.assertBooks();
});

test("an administrator refunds unspent money once, and never more than was paid", async (t) => {
  const shop = await aPaymentShop(t);
  const { stripe } = shop;
  const user = await shop.user();
  const admin = await shop.user({ isAdmin: true });
  const { body: page } = await checkout(shop, user, { amount: 20 });
  const refund = (body: object) => shop.call(admin, "POST", `/api/v0/admin/payments/${page.payment_id}/refund/`, body);
  assert.equal((await refund({})).body["error"], "payment_not_paid");
  await shop.deliverAll(stripe.pay(stripe.lastSession));
  assert.deepEqual((await refund({ amount: 5 })).body, { success: true, amount: 5 });
  assert.equal((await refund({ amount: 15.01 })).body["field"], "amount");
  assert.equal((await shop.call(admin, "POST", "/api/v0/admin/payments/9/refund/", {})).status, 404);
  stripe.outage = "after";
  await shop.runLoop("ask-for-refunds");
  stripe.outage = "none";
  await shop.runLoop("ask-for-refunds");
  await shop.runLoop("ask-for-refunds");
  assert.deepEqual(
    stripe.refunds.map(({ amount }) => amount),
    [500],
  );
  await shop.deliverAll([stripe.refunded(stripe.refunds[0]?.intent ?? "", 500)]);
  assert.equal(await shop.creditOf(user), 15n * DOLLAR);
});

test("refunds of several payments never promise more credit than there is", async (t) => {
  const shop = await aPaymentShop(t);
  const { stripe } = shop;
  const [user, admin] = [await shop.user(), await shop.user({ isAdmin: true })];
  const paid: number[] = [];
  for (let count = 0; count < 2; count += 1) {
    const { body } = await checkout(shop, user, { amount: 20 });
    paid.push(body["payment_id"]);
    await shop.deliverAll(stripe.pay(stripe.lastSession));
  }
  const spent = { debit: creditOf(user.id), credit: creditOf(admin.id), amount: 15n * DOLLAR } as const;
  await inTransaction(shop.env.database, (tx) => postTransfer(tx, transferOf({ ...spent, code: "credit_transfer" })));
  const refund = (id = 0, body: object = {}) => shop.call(admin, "POST", `/api/v0/admin/payments/${id}/refund/`, body);
  const answers = await Promise.all(paid.map((id) => refund(id)));
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 400],
  );
  assert.ok(answers.some(({ body }) => body["error"] === "insufficient_balance"));
  await shop.runLoop("ask-for-refunds");
  await shop.deliverAll(stripe.refunds.map(({ intent, amount }) => stripe.refunded(intent, amount)));
  const other = paid[answers.findIndex(({ status }) => status === 400)];
  assert.equal((await refund(other, { amount: 5.01 })).status, 400);
  assert.equal((await refund(other, { amount: 5 })).status, 200, "what was booked is not counted twice");
  assert.equal((await houseBalances(shop))["losses"], undefined);
  await shop.assertBooks();
});

async function houseBalances(shop: PaymentShop) {
  const { rows } = await shop.env.pool.query<{ kind: string; balance: bigint }>(
    "select kind, balance_nanos as balance from ledger_accounts where kind in ('stripe', 'losses')",
  );
  return Object.fromEntries(rows.map(({ kind, balance: amount }) => [kind, amount]));
}

test("an account has a limited number of open payment pages; a page that was paid, or is a day old, does not count", async (t) => {
  const shop = await aPaymentShop(t);
  const user = await shop.user();
  const open = (key?: string) => checkout(shop, user, { amount: 5 }, key);
  const first = await open("the first");
  await shop.env.pool.query(
    `insert into payments (user_id, kind, amount_cents, created_at)
     select $1, 'checkout', 500, $2 from generate_series(1, 18) as n`,
    [user.id, shop.clock.now()],
  );
  const answers = await Promise.all([open(), open(), open()]);
  const refused = answers.filter(({ status }) => status !== 200);
  assert.equal(refused.length, 2, answers.map(({ text }) => text).join());
  for (const { status, body } of refused) {
    assert.deepEqual([status, body["error"], body["field"]], [400, "too_many", "amount"]);
    assert.match(String(body["msg"]), /at most 20 open payment pages.*24 hours/);
  }
  const card = await shop.call(user, "POST", "/api/v0/billing/payment_methods/", {});
  assert.deepEqual([card.status, card.body["error"]], [400, "too_many"]);
  assert.equal((await open("the first")).text, first.text, "a repetition opens no other page");
  await shop.deliverAll(shop.stripe.pay(shop.stripe.lastSession));
  assert.equal((await open()).status, 200, "a paid one makes room");
  assert.equal((await open()).status, 400);
  shop.clock.jump(86_400_001);
  assert.equal((await open()).status, 200, "pages close after a day");
});
