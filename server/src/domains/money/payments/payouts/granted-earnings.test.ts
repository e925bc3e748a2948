import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { grantOf, transferOf } from "../../../../../../test/support/money/ledger.ts";
import { ManualClock } from "../../../../../../test/support/manual-clock.ts";
import { aPaymentShop, type PaymentShop } from "../../../../../../test/support/money/payments.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import { creditOf, earningsOf, lockAccounts, postAllTransfers, postTransfers } from "../../ledger/index.ts";
import { STRIPE } from "../../ledger/for-payments.ts";
import type { TransferRequest } from "../../ledger/index.ts";
import { setEarningsRules } from "../for-assembly.ts";

const DOLLAR = 1_000_000_000n;
const DAY_MS = 86_400_000;
const RULES = { grantedAfterDays: undefined, cardHoldDays: 14 };

/** A Thursday noon. */
async function aHouse(t: TestContext): Promise<{ shop: PaymentShop; host: TestCaller; renter: TestCaller }> {
  const shop = await aPaymentShop(t, { clock: new ManualClock("2026-01-01T12:00:00Z") });
  await shop.runLoop("invoice-earnings");
  return { shop, host: await shop.user(), renter: await shop.user() };
}

const post = (shop: PaymentShop, requests: readonly TransferRequest[]) =>
  withTransaction(shop.env.database, shop.clock, async (tx) => {
    for (const { kind } of await postTransfers(tx, requests)) assert.equal(kind, "posted");
  });

const spend = (renter: TestCaller, host: TestCaller, dollars: bigint) =>
  transferOf({
    debit: creditOf(renter.id),
    credit: earningsOf(host.id),
    amount: dollars * DOLLAR,
    code: "usage_gpu",
  });

const cash = (user: TestCaller, dollars: bigint) =>
  transferOf({ debit: STRIPE, credit: creditOf(user.id), amount: dollars * DOLLAR, code: "payment" });

async function earnings(shop: PaymentShop, host: TestCaller) {
  const { body } = await shop.call(host, "GET", "/api/v0/billing/payouts/");
  const { balance, payable, granted, young, held, debt } = body.earnings;
  return { balance, payable, granted, young, held, debt };
}

async function nextFriday(shop: PaymentShop, host: TestCaller): Promise<readonly number[]> {
  shop.clock.advance(7 * DAY_MS);
  await shop.runLoop("invoice-earnings");
  const { body } = await shop.call(host, "GET", "/api/v0/billing/payouts/");
  return body.payouts.map(({ amount }: { amount: number }) => amount);
}

const NOTHING = { balance: 0, payable: 0, granted: 0, young: 0, held: 0, debt: 0 };

test("earnings from granted credit wait, and only earnings from cash are paid out", async (t) => {
  const { shop, host, renter } = await aHouse(t);
  await post(shop, [grantOf(renter.id, 100n * DOLLAR), cash(renter, 40n)]);
  await post(shop, [spend(renter, host, 104n)]);
  assert.deepEqual(await earnings(shop, host), { ...NOTHING, balance: 104, payable: 4, granted: 100 });
  assert.deepEqual(await nextFriday(shop, host), [], "four dollars are too little to be sent");
  await post(shop, [spend(renter, host, 36n)]);
  assert.deepEqual(await nextFriday(shop, host), [40]);
  assert.deepEqual(await earnings(shop, host), { ...NOTHING, balance: 100, granted: 100 });
  await shop.assertBooks();
});

test("granted credit that is sent to another account stays granted", async (t) => {
  const { shop, host, renter } = await aHouse(t);
  const friend = await shop.user();
  await post(shop, [grantOf(renter.id, 100n * DOLLAR), cash(friend, 10n)]);
  await post(shop, [transferOf({ debit: creditOf(renter.id), credit: creditOf(friend.id), amount: 100n * DOLLAR })]);
  await post(shop, [spend(friend, host, 110n)]);
  assert.deepEqual(await earnings(shop, host), { ...NOTHING, balance: 110, payable: 10, granted: 100 });
});

test("an administrator releases granted earnings with a reason, at the house's expense and in the audit log", async (t) => {
  const { shop, host, renter } = await aHouse(t);
  const admin = await shop.user({ isAdmin: true });
  await post(shop, [grantOf(renter.id, 100n * DOLLAR), spend(renter, host, 60n)]);
  const release = (body: object) => shop.call(admin, "POST", "/api/v0/admin/earnings/release/", body);
  const tooMuch = await release({ user_id: host.id, amount: 61, reason: "a friend of the house" });
  assert.deepEqual([tooMuch.status, tooMuch.body.field], [400, "amount"], tooMuch.text);
  const done = await release({ user_id: host.id, amount: 25, reason: "a friend of the house" });
  assert.deepEqual(done.body, { success: true, user_id: host.id, released: 25 });
  assert.deepEqual(await earnings(shop, host), { ...NOTHING, balance: 60, payable: 25, granted: 35 });
  const { rows } = await shop.env.pool.query(
    `select (select balance_nanos from ledger_accounts where kind = 'losses') as losses,
       (select arguments from audit_events where action = 'api.admin.release_earnings') as said,
       (select count(*)::integer from notices where kind = 'host:earnings_released' and user_id = $1) as notices`,
    [host.id],
  );
  const said = { user_id: host.id, amount: 25, reason: "a friend of the house" };
  assert.deepEqual(rows, [{ losses: -25n * DOLLAR, said, notices: 1 }]);
  assert.deepEqual(await nextFriday(shop, host), [25]);
  await shop.assertBooks();
});

test("the operator's rule releases granted earnings after its number of days, and books the cost to the house", async (t) => {
  const { shop, host, renter } = await aHouse(t);
  await withTransaction(shop.env.database, shop.clock, (tx) =>
    setEarningsRules(tx, { ...RULES, grantedAfterDays: 10 }),
  );
  await post(shop, [grantOf(renter.id, 100n * DOLLAR), spend(renter, host, 30n)]);
  assert.deepEqual(await nextFriday(shop, host), []);
  await post(shop, [spend(renter, host, 50n)]);
  assert.deepEqual(await nextFriday(shop, host), [30]);
  assert.deepEqual(await earnings(shop, host), { ...NOTHING, balance: 50, granted: 50 });
  const { rows } = await shop.env.pool.query("select balance_nanos as n from ledger_accounts where kind = 'losses'");
  assert.deepEqual(rows, [{ n: -30n * DOLLAR }]);
  await shop.assertBooks();
});

test("later earnings pay a host's debt before any payout", async (t) => {
  const { shop, host, renter } = await aHouse(t);
  await post(shop, [cash(renter, 100n), spend(renter, host, 30n)]);
  assert.deepEqual(await nextFriday(shop, host), [30]);
  const back = {
    debit: earningsOf(host.id),
    credit: creditOf(renter.id),
    amount: 25n * DOLLAR,
    code: "host_credit",
  } as const;
  await withTransaction(shop.env.database, shop.clock, async (tx) => {
    await postAllTransfers(tx, await lockAccounts(tx, [back.debit, back.credit]), [transferOf(back)]);
  });
  assert.deepEqual(await earnings(shop, host), { ...NOTHING, balance: -25, debt: 25 });
  await post(shop, [spend(renter, host, 40n)]);
  assert.deepEqual(await earnings(shop, host), { ...NOTHING, balance: 15, payable: 15 });
  assert.deepEqual(await nextFriday(shop, host), [30]);
  await shop.assertBooks();
});

test("earnings from a card payment are not paid out before the payment is old enough", async (t) => {
  const { shop, host, renter } = await aHouse(t);
  const top = await shop.call(renter, "POST", "/api/v0/billing/checkout/", { amount: 50 });
  assert.equal(top.status, 200, top.text);
  await shop.deliverAll(shop.stripe.pay(shop.stripe.lastSession));
  await post(shop, [cash(renter, 30n), spend(renter, host, 70n)]);
  // At most the 50 dollars of the young payment can be lost, out of 70.
  assert.deepEqual(await earnings(shop, host), { ...NOTHING, balance: 70, payable: 20, young: 50 });
  assert.deepEqual(await nextFriday(shop, host), [20]);
  assert.deepEqual(await nextFriday(shop, host), [50, 20]);
  await shop.assertBooks();
});
