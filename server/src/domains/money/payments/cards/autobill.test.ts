import assert from "node:assert/strict";
import { test } from "node:test";
import { inTransaction, type TestCaller } from "../../../../../../test/support/fixtures.ts";
import { grantOf, transferOf } from "../../../../../../test/support/money/ledger.ts";
import { aPaymentShop, saveCard, type PaymentShop } from "../../../../../../test/support/money/payments.ts";
import { followFreezes, insertFreeze } from "../../../people/accounts/for-freezes.ts";
import { creditOf, ISSUANCE, postTransfers } from "../../ledger/index.ts";

const DOLLAR = 1_000_000_000n;
const HOUR_MS = 3_600_000;
const PATH = "/api/v0/billing/autobill/";

/** A user with a card, this much credit, and automatic payments below ten dollars. */
async function aUserWithCard(shop: PaymentShop, dollars = 10n): Promise<TestCaller> {
  const user = await shop.user();
  await saveCard(shop, user);
  if (dollars > 0n)
    await inTransaction(shop.env.database, (tx) => postTransfers(tx, [grantOf(user.id, dollars * DOLLAR)]));
  const answer = await shop.call(user, "PUT", PATH, { enabled: true, threshold: 10 });
  assert.equal(answer.status, 200, answer.text);
  return user;
}

const run = (shop: PaymentShop) => shop.runLoop("charge-due-cards");

async function spend(shop: PaymentShop, user: TestCaller, dollars: bigint): Promise<void> {
  const spent = transferOf({ debit: creditOf(user.id), credit: ISSUANCE, amount: dollars * DOLLAR });
  await inTransaction(shop.env.database, (tx) => postTransfers(tx, [spent]));
}

async function notificationsOf(shop: PaymentShop, user: TestCaller): Promise<readonly string[]> {
  const { rows } = await shop.env.pool.query<{ kind: string }>(
    "select kind from notices where user_id = $1 order by id",
    [user.id],
  );
  return rows.map(({ kind }) => kind);
}

test("a card is charged when credit has fallen to the threshold, by the default or the chosen amount, once", async (t) => {
  const shop = await aPaymentShop(t);
  const [due, chosen, rich, off, cardless] = [
    await aUserWithCard(shop, 10n),
    await aUserWithCard(shop, 0n),
    await aUserWithCard(shop, 11n),
    await aUserWithCard(shop, 0n),
    await shop.user(),
  ];
  await shop.call(chosen, "PUT", PATH, { amount: 40.25 });
  await shop.call(off, "PUT", PATH, { enabled: false });
  await shop.env.pool.query("update users set balance_threshold_enabled = true where id = $1", [cardless.id]);
  await run(shop);
  await run(shop);
  assert.equal(await shop.creditOf(due), 35n * DOLLAR);
  assert.equal(await shop.creditOf(chosen), (4025n * DOLLAR) / 100n);
  for (const [user, dollars] of [
    [rich, 11n],
    [off, 0n],
    [cardless, 0n],
  ] as const) {
    assert.equal(await shop.creditOf(user), dollars * DOLLAR);
  }
  assert.equal(shop.stripe.intents.size, 2);
  assert.deepEqual(await notificationsOf(shop, due), ["client:payment_receipt"]);
  // Further events of Stripe about this charge change nothing.
  for (const id of shop.stripe.intents.keys()) await shop.deliverAll([shop.stripe.tell(id)]);
  assert.equal(await shop.creditOf(due), 35n * DOLLAR);
  await shop.assertBooks();
});

test("the card of a frozen account is not charged", async (t) => {
  const shop = await aPaymentShop(t);
  const admin = await shop.user({ isAdmin: true });
  const frozen = await aUserWithCard(shop, 0n);
  const freeze = { userId: frozen.id, reason: "review", frozenBy: admin.id };
  await inTransaction(shop.env.database, async (tx) => {
    await insertFreeze(tx, freeze);
    await followFreezes(tx, frozen.id);
  });
  await run(shop);
  assert.deepEqual([shop.stripe.intents.size, await shop.creditOf(frozen)], [0, 0n]);
});

test("two servers that check concurrently charge once", async (t) => {
  const shop = await aPaymentShop(t);
  const user = await aUserWithCard(shop, 0n);
  await Promise.all(Array.from({ length: 6 }, () => run(shop)));
  assert.equal(shop.stripe.intents.size, 1);
  assert.equal(await shop.creditOf(user), 25n * DOLLAR);
});

test("a charge whose request or answer was lost is repeated under its key, and money moves once", async (t) => {
  for (const outage of ["before", "after"] as const) {
    const shop = await aPaymentShop(t);
    const user = await aUserWithCard(shop, 0n);
    shop.stripe.outage = outage;
    assert.deepEqual(await run(shop), { begun: 1, resumed: 0, unanswered: 1 });
    assert.equal(await shop.creditOf(user), 0n);
    assert.deepEqual(await run(shop), { begun: 0, resumed: 0, unanswered: 0 }, "it is leased, and nothing else begins");
    shop.stripe.outage = "none";
    shop.clock.advance(61_000);
    assert.deepEqual(await run(shop), { begun: 0, resumed: 1, unanswered: 0 });
    assert.equal(shop.stripe.intents.size, 1);
    assert.equal(await shop.creditOf(user), 25n * DOLLAR);
  }
});

test("an event that comes before the answer credits, and the answer then changes nothing", async (t) => {
  const shop = await aPaymentShop(t);
  const user = await aUserWithCard(shop, 0n);
  shop.stripe.outage = "after";
  await run(shop);
  const [intent = ""] = shop.stripe.intents.keys();
  await shop.deliverAll([shop.stripe.tell(intent)]);
  assert.equal(await shop.creditOf(user), 25n * DOLLAR);
  shop.stripe.outage = "none";
  shop.clock.advance(61_000);
  await run(shop);
  assert.equal(await shop.creditOf(user), 25n * DOLLAR);
  assert.equal(shop.stripe.intents.size, 1);
});

test("a card that is refused is tried again after 1, 6 and 24 hours, and then switched off", async (t) => {
  const shop = await aPaymentShop(t);
  const { stripe, clock } = shop;
  const user = await aUserWithCard(shop, 0n);
  stripe.decline = "Your card has insufficient funds.";
  let attempts = 0;
  for (const hours of [1, 6, 24]) {
    await run(shop);
    attempts += 1;
    assert.equal(stripe.intents.size, attempts);
    clock.advance(hours * HOUR_MS - 1000);
    await run(shop);
    assert.equal(stripe.intents.size, attempts, `not before ${hours} hours have passed`);
    clock.advance(1000);
  }
  await run(shop);
  clock.advance(100 * HOUR_MS);
  await run(shop);
  assert.equal(stripe.intents.size, 4);
  const { body } = await shop.call(user, "GET", PATH);
  assert.equal(body.enabled, false);
  assert.deepEqual(
    await notificationsOf(shop, user),
    Array.from({ length: 4 }, () => "client:billing_failed"),
  );
  // Switched on again with a card that works, it counts failures from zero.
  stripe.decline = undefined;
  await shop.call(user, "PUT", PATH, { enabled: true });
  await run(shop);
  assert.equal(await shop.creditOf(user), 25n * DOLLAR);
  await shop.assertBooks();
});

test("a failure is counted once, whether the answer or the event reports it", async (t) => {
  const shop = await aPaymentShop(t);
  const user = await aUserWithCard(shop, 0n);
  shop.stripe.decline = "Refused.";
  await run(shop);
  const [intent = ""] = shop.stripe.intents.keys();
  await shop.deliverAll([shop.stripe.tell(intent)]);
  const { body } = await shop.call(user, "GET", PATH);
  assert.equal(body.failure_count, 1);
  assert.equal(body.retry_at, shop.clock.now().getTime() / 1000 + 3600);
});

test("a charge that is decided later keeps others from starting, and is credited on success", async (t) => {
  const shop = await aPaymentShop(t);
  const user = await aUserWithCard(shop, 0n);
  shop.stripe.isSlow = true;
  await run(shop);
  shop.clock.advance(61_000);
  await run(shop);
  assert.equal(shop.stripe.intents.size, 1);
  const [intent] = shop.stripe.intents.values();
  assert.ok(intent);
  intent.status = "succeeded";
  shop.clock.advance(61_000);
  await run(shop);
  assert.equal(await shop.creditOf(user), 25n * DOLLAR);
});

test("a charge without an answer for a day is given up, and money that arrives after all is credited", async (t) => {
  const shop = await aPaymentShop(t);
  const user = await aUserWithCard(shop, 0n);
  shop.stripe.outage = "after";
  await run(shop);
  shop.clock.advance(21 * HOUR_MS);
  await run(shop);
  assert.equal(shop.stripe.intents.size, 1, "a key that may be forgotten is not used again");
  assert.deepEqual(await notificationsOf(shop, user), ["client:billing_failed"]);
  const [intent = ""] = shop.stripe.intents.keys();
  await shop.deliverAll([shop.stripe.tell(intent)]);
  assert.equal(await shop.creditOf(user), 25n * DOLLAR);
});

test("a charge without an answer is not repeated once its card was removed or automatic payments were switched off", async (t) => {
  const changes = [
    (shop: PaymentShop, user: TestCaller) => shop.call(user, "PUT", PATH, { enabled: false }),
    async (shop: PaymentShop, user: TestCaller) => {
      const { body } = await shop.call(user, "GET", "/api/v0/billing/payment_methods/");
      return shop.call(user, "DELETE", `/api/v0/billing/payment_methods/${body.payment_methods[0].id}/`);
    },
  ];
  for (const change of changes) {
    for (const outage of ["before", "after"] as const) {
      const shop = await aPaymentShop(t);
      const user = await aUserWithCard(shop);
      shop.stripe.outage = outage;
      await run(shop);
      shop.stripe.outage = "none";
      assert.equal((await change(shop, user)).status, 200);
      shop.clock.advance(HOUR_MS);
      await run(shop);
      const intents = [...shop.stripe.intents.keys()];
      assert.equal(intents.length, outage === "before" ? 0 : 1, "nothing is asked for again");
      const { body } = await shop.call(user, "GET", PATH);
      const { rows } = await shop.env.pool.query<{ message: string }>("select message from notices");
      const isInNeed = rows.map(({ message }) => /given up: .*No card is saved\./.test(message));
      assert.deepEqual(isInNeed, [body.enabled], "and its user is told so");
      const retryAt = body.enabled ? (shop.clock.now().getTime() + HOUR_MS) / 1000 : null;
      assert.deepEqual([body.failure_count, body.retry_at], [0, retryAt], "no card has failed");
      assert.equal(await shop.creditOf(user), 10n * DOLLAR);
      await saveCard(shop, user, "1881");
      await run(shop);
      assert.equal(
        shop.stripe.intents.size,
        intents.length,
        "nor of a card that is saved only now, before it is known",
      );
      await shop.deliverAll(intents.map((intent) => shop.stripe.tell(intent)));
      assert.equal(await shop.creditOf(user), outage === "before" ? 10n * DOLLAR : 35n * DOLLAR);
      await shop.assertBooks();
    }
  }
});

test("a charge that is given up does not count as a failure: another card is charged an hour later, and nothing is switched off", async (t) => {
  const shop = await aPaymentShop(t);
  const { stripe, clock } = shop;
  const user = await aUserWithCard(shop, 0n);
  stripe.decline = "Your card has insufficient funds.";
  for (const hours of [1, 6, 24]) {
    await run(shop);
    clock.advance(hours * HOUR_MS);
  }
  stripe.decline = undefined;
  stripe.outage = "before";
  await run(shop);
  stripe.outage = "none";
  await saveCard(shop, user, "1881");
  const { payment_methods: cards } = (await shop.call(user, "GET", "/api/v0/billing/payment_methods/")).body;
  const charged = cards.find((card: { readonly is_default: boolean }) => card.is_default);
  const removed = await shop.call(user, "DELETE", `/api/v0/billing/payment_methods/${charged.id}/`);
  assert.equal(removed.status, 200, removed.text);
  clock.advance(61_000);
  await run(shop);
  const retryAt = clock.now().getTime() + HOUR_MS;
  const { body } = await shop.call(user, "GET", PATH);
  assert.deepEqual([body.enabled, body.last4, body.failure_count, body.retry_at], [true, "1881", 3, retryAt / 1000]);
  const { rows } = await shop.env.pool.query("select subject, message from notices order by id desc limit 1");
  assert.equal(rows[0].subject, "A charge of $25.00 was given up");
  assert.ok(rows[0].message.endsWith(`Your saved card may be charged after ${new Date(retryAt).toISOString()}.`));
  clock.advance(HOUR_MS);
  await run(shop);
  assert.equal(await shop.creditOf(user), 25n * DOLLAR);
  assert.equal((await shop.call(user, "GET", PATH)).body.failure_count, 0);
});

test("each time credit runs out the card is charged again", async (t) => {
  const shop = await aPaymentShop(t);
  const user = await aUserWithCard(shop, 0n);
  for (let time = 1; time <= 3; time += 1) {
    await run(shop);
    assert.equal(await shop.creditOf(user), 25n * DOLLAR);
    await spend(shop, user, 25n);
  }
  assert.equal(shop.stripe.intents.size, 3);
});

test("automatic payments need a card, a threshold that is not negative, and at least five dollars", async (t) => {
  const shop = await aPaymentShop(t);
  const user = await shop.user();
  const refuse = async (body: object, field: string) => {
    const answer = await shop.call(user, "PUT", PATH, body);
    assert.deepEqual([answer.status, answer.body.field], [400, field], answer.text);
  };
  await refuse({ enabled: true }, "enabled");
  await refuse({ threshold: -1 }, "threshold");
  await refuse({ amount: 4 }, "amount");
  await refuse({ amount: 10.001 }, "amount");
  const { body } = await shop.call(user, "PUT", PATH, { threshold: 60 });
  assert.deepEqual([body.enabled, body.threshold, body.amount, body.last4], [false, 60, 60, null]);
});

test("users with low credit are found among many others with automatic payments", async (t) => {
  const shop = await aPaymentShop(t);
  await shop.env.pool.query(
    `insert into users (email, username, created_at, balance_threshold_enabled, balance_threshold_nanos)
     select 'cardless' || n || '@example.com', 'cardless', now(), true, 0 from generate_series(1, 5200) n`,
  );
  const due = await aUserWithCard(shop, 0n);
  await run(shop);
  assert.equal(await shop.creditOf(due), 25n * DOLLAR);
});
