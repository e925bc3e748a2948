import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import fc from "fast-check";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { ManualClock } from "../../../../../../test/support/manual-clock.ts";
import { transferOf } from "../../../../../../test/support/money/ledger.ts";
import { aPaymentShop, saveCard, type PaymentShop } from "../../../../../../test/support/money/payments.ts";
import { giveCredit } from "../../../../../../test/support/app.ts";
import { spendAt } from "../../../../../../test/support/money/spending.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import { balanceOf, creditOf, postTransfers } from "../../ledger/index.ts";
import { listOpenPayoutHolds } from "../index.ts";
import { listYoungCredit } from "../for-invoices.ts";
import { planTakeBack } from "./rules/take-back.ts";

const DOLLAR = 1_000_000_000n;
const DAY_MS = 86_400_000;

/** A renter who paid 100 dollars by card and spent 80 of them at a host. */
async function aSpentPayment(t: TestContext) {
  const shop = await aPaymentShop(t, { clock: new ManualClock("2026-01-01T12:00:00Z") });
  const [renter, host] = [await shop.user(), await shop.user()];
  assert.equal((await shop.call(renter, "POST", "/api/v0/billing/checkout/", { amount: 100 })).status, 200);
  await shop.deliverAll(shop.stripe.pay(shop.stripe.lastSession));
  const intent = [...shop.stripe.intents.keys()].at(-1) ?? "";
  await spendAt(shop, { renter, host, dollars: 80 });
  return { shop, renter, host, intent };
}

const earned = async (shop: PaymentShop, host: TestCaller) =>
  (await balanceOf(shop.env.database.kysely, host.id, "earnings")).balance;

test("a payment that is disputed while it waits comes back from the host who earned it", async (t) => {
  const { shop, renter, host, intent } = await aSpentPayment(t);
  shop.clock.advance(7 * DAY_MS);
  await shop.runLoop("invoice-earnings");
  assert.equal(await earned(shop, host), 80n * DOLLAR, "young money is in no payout");
  await shop.deliverAll([shop.stripe.disputed(intent, 10_000, "needs_response")]);
  assert.deepEqual([await shop.creditOf(renter), await earned(shop, host)], [0n, 0n]);
  const { rows } = await shop.env.pool.query("select kind from ledger_accounts where kind = 'losses'");
  assert.deepEqual(rows, [], "the house lost nothing");
  await shop.assertBooks();
});

test("a host gets the amount that a dispute took back once, when the operator wins", async (t) => {
  const { shop, renter, host, intent } = await aSpentPayment(t);
  await shop.deliverAll([shop.stripe.disputed(intent, 10_000, "needs_response")]);
  assert.deepEqual([await shop.creditOf(renter), await earned(shop, host)], [0n, 0n]);
  for (const _told of ["once", "twice"]) {
    await shop.deliverAll([shop.stripe.disputed(intent, 10_000, "won")]);
    assert.deepEqual([await shop.creditOf(renter), await earned(shop, host)], [20n * DOLLAR, 80n * DOLLAR]);
  }
  const { rows } = await shop.env.pool.query("select message from notices where user_id = $1 order by id", [host.id]);
  assert.match(String(rows.at(-1)?.["message"]), /^\$80 is again in your earnings\. Given back:/);
  await shop.assertBooks();
});

test("a payment that is disputed late becomes its renter's debt, which later credit pays", async (t) => {
  const { shop, renter, host, intent } = await aSpentPayment(t);
  shop.clock.advance(30 * DAY_MS);
  await shop.deliverAll([shop.stripe.disputed(intent, 10_000, "needs_response")]);
  assert.deepEqual([await shop.creditOf(renter), await earned(shop, host)], [-80n * DOLLAR, 80n * DOLLAR]);
  await shop.deliverAll([shop.stripe.disputed(intent, 10_000, "won")]);
  assert.equal(await shop.creditOf(renter), 20n * DOLLAR);
  await shop.assertBooks();
});

test("no account gives more than it received, nor more than it still has", () => {
  const amounts = fc.bigInt(-10n, 100n);
  fc.assert(
    fc.property(amounts, fc.array(fc.tuple(amounts, amounts), { maxLength: 6 }), (wanted, got) => {
      const holders = got.map(([sentNanos, cashNanos], name) => ({ name, sentNanos, cashNanos }));
      const { parts, missingNanos } = planTakeBack(wanted, holders);
      for (const { name, amount } of parts) {
        assert.ok(amount > 0n && amount <= (got[name]?.[0] ?? 0n) && amount <= (got[name]?.[1] ?? 0n));
      }
      const taken = parts.reduce((sum, { amount }) => sum + amount, 0n);
      assert.equal(taken + missingNanos, wanted > 0n ? wanted : 0n);
    }),
  );
});

test("a won dispute returns each taking once, and gives the payer no more than before", async (t) => {
  const { shop, renter, host, intent } = await aSpentPayment(t);
  const friend = await shop.user();
  const sides = { debit: creditOf(renter.id), credit: creditOf(friend.id), amount: 15n * DOLLAR } as const;
  const gift = transferOf({ ...sides, code: "credit_transfer" });
  await withTransaction(shop.env.database, shop.clock, (tx) => postTransfers(tx, [gift]));
  const all = async () => [await shop.creditOf(renter), await shop.creditOf(friend), await earned(shop, host)];
  const before = [5n * DOLLAR, 15n * DOLLAR, 80n * DOLLAR];
  assert.deepEqual(await all(), before);
  const lost = shop.stripe.disputed(intent, 10_000, "needs_response");
  await shop.deliverAll([lost, lost]);
  assert.deepEqual(await all(), [0n, 0n, 0n]);
  const won = () => shop.stripe.disputed(intent, 10_000, "won");
  await Promise.all([shop.deliver(won()), shop.deliver(won())]);
  await shop.deliverAll([won(), lost]);
  assert.deepEqual(await all(), before);
  const { rows } = await shop.env.pool.query(
    "select user_id, subject from notices where subject like '%given back' order by user_id",
  );
  assert.deepEqual(rows, [
    { user_id: host.id, subject: "$80 of your earnings was given back" },
    { user_id: friend.id, subject: "$15 of your credit was given back" },
  ]);
  await shop.assertBooks();
});

test("a debt that a won dispute ends leaves no more cash than the payments", async (t) => {
  const { shop, renter, host, intent } = await aSpentPayment(t);
  shop.clock.advance(30 * DAY_MS);
  await shop.deliverAll([shop.stripe.disputed(intent, 10_000, "needs_response")]);
  await shop.deliverAll([shop.stripe.disputed(intent, 10_000, "won")]);
  const { rows } = await shop.env.pool.query<{ cash: string }>(
    "select (balance_nanos - granted_nanos)::text as cash from ledger_accounts where user_id = any($1) order by user_id, kind",
    [[renter.id, host.id]],
  );
  assert.equal(
    rows.reduce((sum, { cash }) => sum + BigInt(cash), 0n),
    100n * DOLLAR,
  );
});

/** Users who pay by card, send credit to each other and spend it. */
async function aCrowd(t: TestContext, count: number) {
  const shop = await aPaymentShop(t, { clock: new ManualClock("2026-01-01T12:00:00Z") });
  const people = await Promise.all(Array.from({ length: count }, () => shop.user()));
  const pay = async (user: TestCaller, amount: number) => {
    assert.equal((await shop.call(user, "POST", "/api/v0/billing/checkout/", { amount })).status, 200);
    await shop.deliverAll(shop.stripe.pay(shop.stripe.lastSession));
    return [...shop.stripe.intents.keys()].at(-1) ?? "";
  };
  const send = async (from: TestCaller, to: TestCaller, dollars: bigint) => {
    const sides = { debit: creditOf(from.id), credit: creditOf(to.id), amount: dollars * DOLLAR } as const;
    await withTransaction(shop.env.database, shop.clock, (tx) => postTransfers(tx, [transferOf(sides)]));
  };
  return { shop, people, pay, send };
}

test("two disputes of one payer take credit that was sent on once, and leave amounts that came back before", async (t) => {
  const { shop, people, pay, send } = await aCrowd(t, 3);
  const [payer, friend, host] = people as [TestCaller, TestCaller, TestCaller];
  const intents = [await pay(payer, 10), await pay(payer, 10)];
  await pay(friend, 50);
  await send(payer, friend, 20n);
  await send(friend, payer, 12n);
  await spendAt(shop, { renter: payer, host, dollars: 12 });
  shop.clock.advance(30 * DAY_MS);
  for (const intent of intents) await shop.deliverAll([shop.stripe.disputed(intent, 1000, "needs_response")]);
  assert.equal(await shop.creditOf(friend), 50n * DOLLAR, "the friend has what the friend paid in");
  assert.equal(await shop.creditOf(payer), -12n * DOLLAR, "and the payer owes what the payer spent");
});

test("two disputes of one payer reach everything that either payment was spent on, in either order", async (t) => {
  const { shop, people, pay, send } = await aCrowd(t, 6);
  const disputeBoth = async (intents: readonly string[], cents: readonly number[], order: readonly number[]) => {
    for (const place of order) {
      await shop.deliverAll([shop.stripe.disputed(intents[place] ?? "", cents[place] ?? 0, "needs_response")]);
    }
  };
  for (const [index, order] of [
    [0, 1],
    [1, 0],
  ].entries()) {
    const [payer, friend, host] = people.slice(index * 3) as [TestCaller, TestCaller, TestCaller];
    const first = await pay(payer, 100);
    await spendAt(shop, { renter: payer, host, dollars: 60 });
    await send(payer, friend, 20n);
    const intents = [first, await pay(payer, 80)];
    // The first payment finds the credit that the second one brought.
    await disputeBoth(intents, [10_000, 8_000], order);
    assert.deepEqual(
      [await shop.creditOf(payer), await shop.creditOf(friend), await earned(shop, host)],
      [0n, 0n, 0n],
      `in the order ${order.join(", ")}`,
    );
  }
  await shop.assertBooks();
});

test("two disputes of one payer take nothing that a host was paid before the waiting time, in either order", async (t) => {
  const { shop, people, pay } = await aCrowd(t, 4);
  for (const [index, order] of [
    [0, 1],
    [1, 0],
  ].entries()) {
    const [payer, host] = people.slice(index * 2) as [TestCaller, TestCaller];
    const intents = [await pay(payer, 100)];
    await spendAt(shop, { renter: payer, host, dollars: 60 });
    shop.clock.advance(20 * DAY_MS);
    intents.push(await pay(payer, 60));
    await spendAt(shop, { renter: payer, host, dollars: 10 });
    for (const place of order) {
      await shop.deliverAll([
        shop.stripe.disputed(intents[place] ?? "", [10_000, 6_000][place] ?? 0, "needs_response"),
      ]);
    }
    const left = [await shop.creditOf(payer), await earned(shop, host)];
    assert.deepEqual(left, [-60n * DOLLAR, 60n * DOLLAR], `in the order ${order.join(", ")}`);
  }
  await shop.assertBooks();
});

test("granted credit pays for no return while a host still has the payment's cash", async (t) => {
  const { shop, renter, host, intent } = await aSpentPayment(t);
  await giveCredit(shop, renter, 90);
  await shop.deliverAll([shop.stripe.disputed(intent, 10_000, "needs_response")]);
  assert.deepEqual([await shop.creditOf(renter), await earned(shop, host)], [90n * DOLLAR, 0n]);
  await shop.deliverAll([shop.stripe.disputed(intent, 10_000, "won")]);
  assert.deepEqual([await shop.creditOf(renter), await earned(shop, host)], [110n * DOLLAR, 80n * DOLLAR]);
  await shop.assertBooks();
});

test("granted credit pays for a return before a debt arises", async (t) => {
  const { shop, renter, host, intent } = await aSpentPayment(t);
  shop.clock.advance(30 * DAY_MS);
  await giveCredit(shop, renter, 90);
  await shop.deliverAll([shop.stripe.disputed(intent, 10_000, "needs_response")]);
  assert.deepEqual([await shop.creditOf(renter), await earned(shop, host)], [10n * DOLLAR, 80n * DOLLAR]);
  const { rows } = await shop.env.pool.query("select message from notices where kind = 'client:payment_taken_back'");
  assert.equal(rows.length, 1);
  assert.doesNotMatch(String(rows[0]?.["message"]), /You owe/);
  await shop.assertBooks();
});

test("concurrent disputes of two payers take credit that passed through one user to another once", async (t) => {
  const { shop, people, pay, send } = await aCrowd(t, 5);
  const [one, other, between, last, host] = people as [TestCaller, TestCaller, TestCaller, TestCaller, TestCaller];
  const intents = [await pay(one, 10), await pay(other, 10)];
  await pay(last, 50);
  await send(one, between, 10n);
  await send(other, between, 10n);
  await send(between, last, 10n);
  await spendAt(shop, { renter: between, host, dollars: 10 });
  shop.clock.advance(30 * DAY_MS);
  const answers = await Promise.all(
    intents.map((intent) => shop.deliver(shop.stripe.disputed(intent, 1000, "needs_response"))),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200],
  );
  assert.equal(await shop.creditOf(last), 50n * DOLLAR, "ten dollars came there, and ten went back");
  assert.equal((await shop.creditOf(one)) + (await shop.creditOf(other)), -10n * DOLLAR, "the rest is a payer's debt");
  await shop.assertBooks();
});

test("an account that disputes a payment is flagged until the operator has won, or an administrator releases the hold", async (t) => {
  const { shop, renter, intent } = await aSpentPayment(t);
  const admin = await shop.user({ isAdmin: true });
  await saveCard(shop, renter);
  const autobill = { enabled: true, threshold: 10, amount: 20 };
  assert.equal((await shop.call(renter, "PUT", "/api/v0/billing/autobill/", autobill)).status, 200);
  const flags = async (query = "") => {
    const { status, body } = await shop.call(admin, "GET", `/api/v0/admin/disputes/${query}`);
    assert.equal(status, 200);
    return body.accounts;
  };
  const pay = (amount: number) => shop.call(renter, "POST", "/api/v0/billing/checkout/", { amount });
  const young = async () => (await listYoungCredit(shop.env.database.kysely, shop.clock.now(), [renter.id])).size;
  assert.deepEqual(await flags("?all=true"), []);

  shop.clock.advance(30 * DAY_MS);
  await shop.deliverAll([shop.stripe.disputed(intent, 10_000, "needs_response")]);
  const [flagged] = await flags();
  const { payout_hold_id: holdId, disputes, ...sums } = flagged;
  assert.deepEqual(sums, {
    user_id: renter.id,
    open_count: 1,
    lost_count: 0,
    won_count: 0,
    disputed: 100,
    owed: 80,
  });
  assert.deepEqual(
    disputes.map(({ reference, amount, state }: Record<string, unknown>) => [reference, amount, state]),
    [[`dp_${intent}`, 100, "open"]],
  );
  const { body: payouts } = await shop.call(renter, "GET", "/api/v0/billing/payouts/");
  assert.deepEqual(
    payouts.holds.map(({ id, kind }: Record<string, unknown>) => [id, kind]),
    [[holdId, "disputed_money"]],
  );
  assert.deepEqual(await shop.runLoop("charge-due-cards"), { begun: 0, resumed: 0, unanswered: 0 });
  const refused = await pay(81);
  assert.deepEqual([refused.status, refused.body.error], [403, "payment_disputed"]);
  assert.match(refused.body.msg, /It owes \$80\.00: pay at most \$80\.00\./);
  assert.equal((await pay(80)).status, 200, "what it owes is taken");
  assert.equal(await young(), 1, "and none of its cash can be given away");

  await shop.deliverAll([shop.stripe.disputed(intent, 10_000, "lost")]);
  assert.deepEqual(
    [(await flags())[0].lost_count, (await flags())[0].payout_hold_id],
    [1, holdId],
    "a lost one flags on",
  );
  const url = `/api/v0/admin/payout_holds/${holdId}/`;
  assert.equal((await shop.call(admin, "PUT", url, { reason: "The bank made a mistake." })).status, 200);
  assert.equal((await flags())[0].payout_hold_id, null);
  assert.equal((await pay(81)).status, 200);
  assert.equal(await young(), 0);
  assert.deepEqual(await shop.runLoop("charge-due-cards"), { begun: 1, resumed: 0, unanswered: 0 });
});

test("winning the last dispute of an account removes its flag", async (t) => {
  const { shop, renter, intent } = await aSpentPayment(t);
  assert.equal((await shop.call(renter, "POST", "/api/v0/billing/checkout/", { amount: 50 })).status, 200);
  await shop.deliverAll(shop.stripe.pay(shop.stripe.lastSession));
  const second = [...shop.stripe.intents.keys()].at(-1) ?? "";
  const kinds = async () =>
    (await listOpenPayoutHolds(shop.env.database.kysely, renter.id)).map(({ kind }) => String(kind));
  for (const [one, cents] of [
    [intent, 10_000],
    [second, 5000],
  ] as const) {
    await shop.deliverAll([shop.stripe.disputed(one, cents, "needs_response")]);
  }
  await shop.deliverAll([shop.stripe.disputed(intent, 10_000, "won")]);
  assert.deepEqual(await kinds(), ["disputed_money"], "the other one is open");
  await shop.deliverAll([shop.stripe.disputed(second, 5000, "won")]);
  assert.deepEqual(await kinds(), []);
});
