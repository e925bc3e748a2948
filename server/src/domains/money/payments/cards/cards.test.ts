import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { aPaymentShop, saveCard, type PaymentShop } from "../../../../../../test/support/money/payments.ts";
import { readPaymentSummary } from "../for-assembly.ts";

type Card = { readonly id: number; readonly last4: string; readonly is_default: boolean };

async function cardsOf(shop: PaymentShop, user: TestCaller): Promise<readonly Card[]> {
  const { body } = await shop.call(user, "GET", "/api/v0/billing/payment_methods/");
  return body.payment_methods;
}

const pathOf = ({ id }: Pick<Card, "id">) => `/api/v0/billing/payment_methods/${id}/`;

test("a card that was saved on the page is listed by brand, last digits and expiry, and the first is the default", async (t) => {
  const shop = await aPaymentShop(t);
  const user = await shop.user();
  await saveCard(shop, user, "4242");
  await saveCard(shop, user, "1881");
  const { body } = await shop.call(user, "GET", "/api/v0/billing/payment_methods/");
  const [first, second] = body.payment_methods;
  const { id: _id, created_at: _at, ...shown } = first;
  assert.deepEqual(shown, { brand: "visa", last4: "4242", exp_month: 12, exp_year: 2034, is_default: true });
  assert.deepEqual([second.last4, second.is_default], ["1881", false]);
  assert.ok(!JSON.stringify(body).includes("pm_"), "the provider's name of a card is nobody's business");
  const standing = await readPaymentSummary(shop.env.database.kysely, user.id);
  assert.deepEqual(standing, { last4: "4242", hasPayoutMethod: false });
});

test("the default moves when it is chosen, and to the newest card when it is removed", async (t) => {
  const shop = await aPaymentShop(t);
  const user = await shop.user();
  for (const last4 of ["0001", "0002", "0003"]) await saveCard(shop, user, last4);
  const [first, second] = await cardsOf(shop, user);
  assert.ok(first && second);
  const defaultOf = async () => (await cardsOf(shop, user)).filter((card) => card.is_default).map(({ last4 }) => last4);
  assert.equal((await shop.call(user, "PUT", pathOf(second), { is_default: true })).status, 200);
  assert.deepEqual(await defaultOf(), ["0002"]);
  const key = randomUUID();
  for (let time = 0; time < 2; time += 1) {
    assert.equal((await shop.call(user, "DELETE", pathOf(second), undefined, key)).status, 200);
  }
  assert.deepEqual(await defaultOf(), ["0003"]);
  assert.equal((await shop.call(user, "DELETE", pathOf(second))).body.error, "no_such_payment_method");
});

test("another user's card looks like one that does not exist", async (t) => {
  const shop = await aPaymentShop(t);
  const [owner, other] = [await shop.user(), await shop.user()];
  await saveCard(shop, owner);
  const [card] = await cardsOf(shop, owner);
  assert.ok(card);
  for (const target of [card, { id: 999_999 }]) {
    for (const method of ["PUT", "DELETE"] as const) {
      const answer = await shop.call(other, method, pathOf(target), { is_default: true });
      assert.deepEqual([answer.status, answer.body.error], [404, "no_such_payment_method"]);
    }
  }
  assert.equal((await cardsOf(shop, owner)).length, 1);
});

test("a removed card is detached at the provider, and no late event brings it back", async (t) => {
  const shop = await aPaymentShop(t);
  const { stripe } = shop;
  const user = await shop.user();
  await shop.call(user, "POST", "/api/v0/billing/payment_methods/", {});
  const events = stripe.saveCard(stripe.lastSession);
  await shop.deliverAll(events);
  const [card] = await cardsOf(shop, user);
  assert.ok(card);
  await shop.call(user, "DELETE", pathOf(card));
  assert.deepEqual(await shop.runLoop("sync-cards"), { refreshed: 1, detached: 1, unanswered: 0 });
  assert.deepEqual(
    [...stripe.methods.values()].map(({ customer }) => customer),
    [null],
  );
  const [attached] = events;
  assert.ok(attached);
  const late = stripe.event("payment_method.updated", JSON.parse(attached.payload).data.object);
  await shop.deliverAll([late]);
  await shop.runLoop("sync-cards");
  assert.deepEqual(await cardsOf(shop, user), []);
});

test("a card whose event was lost is found, and one that was removed at the provider is forgotten", async (t) => {
  const shop = await aPaymentShop(t);
  const { stripe } = shop;
  const user = await shop.user();
  await shop.call(user, "POST", "/api/v0/billing/payment_methods/", {});
  const [, completed] = stripe.saveCard(stripe.lastSession, "5556");
  assert.ok(completed);
  await shop.deliverAll([completed]);
  assert.deepEqual(await cardsOf(shop, user), []);
  await shop.runLoop("sync-cards");
  assert.deepEqual(
    (await cardsOf(shop, user)).map(({ last4 }) => last4),
    ["5556"],
  );
  const [methodId = ""] = stripe.methods.keys();
  await shop.deliverAll([stripe.detached(methodId)]);
  assert.deepEqual(await cardsOf(shop, user), []);
});

test("a user whose customer was deleted at the provider has no cards, and the provider is not asked again", async (t) => {
  const shop = await aPaymentShop(t);
  const user = await shop.user();
  await saveCard(shop, user);
  shop.stripe.goneCustomers.add(shop.stripe.lastSession.customer);
  assert.deepEqual(await shop.runLoop("sync-cards"), { refreshed: 1, detached: 0, unanswered: 0 });
  assert.deepEqual(await cardsOf(shop, user), []);
  assert.deepEqual(await shop.runLoop("sync-cards"), { refreshed: 0, detached: 0, unanswered: 0 });
});

test("changes of automatic payments are in the audit log", async (t) => {
  const shop = await aPaymentShop(t);
  const user = await shop.user();
  await saveCard(shop, user);
  const [card] = await cardsOf(shop, user);
  assert.ok(card);
  await shop.call(user, "PUT", pathOf(card), { is_default: true });
  await shop.call(user, "PUT", "/api/v0/billing/autobill/", { enabled: true, threshold: 10, amount: 30 });
  await shop.call(user, "DELETE", pathOf(card));
  const { rows } = await shop.env.pool.query(
    "select action, arguments from audit_events where user_id = $1 order by id",
    [user.id],
  );
  assert.deepEqual(rows, [
    { action: "api.billing.prefer_card", arguments: { id: card.id } },
    { action: "api.billing.change_autobill", arguments: { enabled: true, threshold: 10, amount: 30 } },
    { action: "api.billing.forget_card", arguments: { id: card.id } },
  ]);
});
