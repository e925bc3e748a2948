import assert from "node:assert/strict";
import { test } from "node:test";
import type { UserId } from "../../../../base/ids.ts";
import { inTransaction, type TestCaller } from "../../../../../../test/support/fixtures.ts";
import { transferOf } from "../../../../../../test/support/money/ledger.ts";
import { ManualClock } from "../../../../../../test/support/manual-clock.ts";
import { aPaymentShop, type PaymentShop } from "../../../../../../test/support/money/payments.ts";
import { markUserDeleted } from "../../../people/accounts/users/store.ts";
import {
  balanceOf,
  creditOf,
  earningsOf,
  ISSUANCE,
  lockAccounts,
  postAllTransfers,
  postTransfers,
} from "../../ledger/index.ts";
import { readFeeDue } from "../index.ts";
import { setFeeRate } from "../for-assembly.ts";

const DOLLAR = 1_000_000_000n;
const WEEK_MS = 7 * 86_400_000;
/** A Thursday. */
const START = "2026-01-01T12:00:00Z";
const TO_FRIDAY_MS = 12 * 3_600_000;
const ACCOUNT = "acct_1TestHost0001";

async function earn(shop: PaymentShop, user: { readonly id: UserId }, amount: bigint): Promise<void> {
  const [debit, credit] = amount > 0n ? [ISSUANCE, earningsOf(user.id)] : [earningsOf(user.id), ISSUANCE];
  const earned = transferOf({ debit, credit, amount: amount > 0n ? amount : -amount, code: "usage_gpu" });
  await inTransaction(shop.env.database, (tx) => postTransfers(tx, [earned]));
}

/** Credits a renter for a failure of this host, which may make its earnings negative. */
async function giveBack(shop: PaymentShop, host: TestCaller, amount: bigint): Promise<void> {
  const sides = { debit: earningsOf(host.id), credit: creditOf((await shop.user()).id) };
  await inTransaction(shop.env.database, async (tx) => {
    const accounts = await lockAccounts(tx, [sides.debit, sides.credit]);
    await postAllTransfers(tx, accounts, [transferOf({ ...sides, amount, code: "host_credit" })]);
  });
}

const earningsLeft = async (shop: PaymentShop, user: TestCaller) =>
  (await balanceOf(shop.env.database.kysely, user.id, "earnings")).balance;

async function payoutsOf(shop: PaymentShop, user: TestCaller) {
  const { body } = await shop.call(user, "GET", "/api/v0/billing/payouts/");
  return body.payouts;
}

const choose = (shop: PaymentShop, user: TestCaller, method: string, details: object) =>
  shop.call(user, "PUT", "/api/v0/billing/payout_method/", { method, details });

/** Shortly after noon of a Thursday, with a fee of 10 %. */
async function aHouse(t: Parameters<typeof aPaymentShop>[0], options: { readonly isOffline?: boolean } = {}) {
  const shop = await aPaymentShop(t, { clock: new ManualClock(START), ...options });
  await inTransaction(shop.env.database, (tx) => setFeeRate(tx, { feePpm: 100_000 }));
  await shop.runLoop("invoice-earnings");
  return shop;
}

test("on Friday a host's earnings become a fee and a payout of the rest that is due a week later", async (t) => {
  const shop = await aHouse(t);
  const host = await shop.user();
  await earn(shop, host, 100n * DOLLAR + 123_456_789n);
  assert.deepEqual(await shop.runLoop("invoice-earnings"), { invoiced: 0 }, "it is not Friday yet");
  shop.clock.advance(TO_FRIDAY_MS);
  assert.deepEqual(await shop.runLoop("invoice-earnings"), { invoiced: 1 });
  assert.deepEqual(await shop.runLoop("invoice-earnings"), { invoiced: 0 });
  const [payout, ...others] = await payoutsOf(shop, host);
  assert.deepEqual(others, []);
  const friday = Date.parse("2026-01-02T00:00:00Z") / 1000;
  assert.deepEqual(
    [payout.state, payout.invoiced_at, payout.due_at, payout.earned, payout.fee_percent, payout.fee, payout.amount],
    ["pending", friday, friday + WEEK_MS / 1000, 100.123456789, 10, 10.012345678, 90.11],
  );
  // Fractions of a cent stay in the earnings.
  assert.equal(await earningsLeft(shop, host), 1_111_111n);
  await shop.assertBooks();
});

test("less than twenty dollars roll over without a fee, which is taken once when there is more", async (t) => {
  const shop = await aHouse(t);
  const host = await shop.user();
  await earn(shop, host, 22n * DOLLAR);
  shop.clock.advance(TO_FRIDAY_MS);
  await shop.runLoop("invoice-earnings");
  assert.deepEqual(await payoutsOf(shop, host), [], "22 dollars less the fee are less than 20");
  assert.equal(await earningsLeft(shop, host), 22n * DOLLAR);
  assert.equal((await readFeeDue(shop.env.database.kysely, host.id)).fee, (22n * DOLLAR) / 10n);
  await earn(shop, host, 8n * DOLLAR);
  await shop.runLoop("invoice-earnings");
  assert.deepEqual(
    await payoutsOf(shop, host),
    [],
    "a host with enough earnings on a Saturday waits for the next Friday",
  );
  shop.clock.advance(WEEK_MS);
  await shop.runLoop("invoice-earnings");
  const [payout] = await payoutsOf(shop, host);
  assert.deepEqual([payout.earned, payout.fee, payout.amount], [30, 3, 27]);
  assert.equal((await readFeeDue(shop.env.database.kysely, host.id)).fee, 0n);
});

test("amounts that went back to renters reduce the earnings of later invoices", async (t) => {
  const shop = await aHouse(t);
  const host = await shop.user();
  await earn(shop, host, 100n * DOLLAR + 5_000_000n);
  shop.clock.advance(TO_FRIDAY_MS);
  await shop.runLoop("invoice-earnings");
  const left = await earningsLeft(shop, host);
  await earn(shop, host, -left);
  await earn(shop, host, 50n * DOLLAR);
  shop.clock.advance(WEEK_MS);
  await shop.runLoop("invoice-earnings");
  const [second] = await payoutsOf(shop, host);
  assert.equal(BigInt(Math.round(second.earned * 1e9)), 50n * DOLLAR - left);
});

test("a host with an account at the provider is paid on its Friday, once, although requests and answers are lost", async (t) => {
  for (const outage of ["none", "before", "after"] as const) {
    const shop = await aHouse(t);
    const { stripe, clock } = shop;
    const host = await shop.user();
    assert.equal((await choose(shop, host, "stripe", { account_id: ACCOUNT })).status, 200);
    await earn(shop, host, 50n * DOLLAR);
    clock.advance(TO_FRIDAY_MS);
    await shop.runLoop("invoice-earnings");
    clock.advance(WEEK_MS - 1);
    await shop.runLoop("send-due-payouts");
    assert.equal(stripe.transfers.length, 0, "not before it is due");
    clock.advance(1);
    stripe.outage = outage;
    await Promise.all([shop.runLoop("send-due-payouts"), shop.runLoop("send-due-payouts")]);
    stripe.outage = "none";
    await shop.runLoop("send-due-payouts");
    clock.advance(11 * 60_000);
    await shop.runLoop("send-due-payouts");
    assert.deepEqual(
      stripe.transfers.map(({ amount, destination }) => [amount, destination]),
      [[4500, ACCOUNT]],
    );
    const [payout] = await payoutsOf(shop, host);
    assert.deepEqual([payout.state, payout.method, payout.reference], ["paid", "stripe", stripe.transfers[0]?.id]);
    await shop.assertBooks();
  }
});

test("a payout that the provider refuses returns to earnings, bears no second fee, and is invoiced again", async (t) => {
  const shop = await aHouse(t);
  const { stripe, clock } = shop;
  const host = await shop.user();
  await choose(shop, host, "stripe", { account_id: ACCOUNT });
  await earn(shop, host, 50n * DOLLAR);
  clock.advance(TO_FRIDAY_MS);
  await shop.runLoop("invoice-earnings");
  clock.advance(WEEK_MS + 1000);
  await shop.runLoop("invoice-earnings");
  stripe.refusal = "No such destination.";
  await shop.runLoop("send-due-payouts");
  const [failed] = await payoutsOf(shop, host);
  assert.deepEqual([failed.state, failed.failure], ["failed", "No such destination."]);
  assert.equal(await earningsLeft(shop, host), 45n * DOLLAR);
  stripe.refusal = undefined;
  clock.advance(WEEK_MS);
  await shop.runLoop("invoice-earnings");
  const [again] = await payoutsOf(shop, host);
  assert.deepEqual([again.state, again.earned, again.fee, again.amount], ["pending", 0, 0, 45]);
  const { rows } = await shop.env.pool.query("select kind from notices where user_id = $1 order by id", [host.id]);
  assert.deepEqual(
    rows.map(({ kind }) => kind),
    ["host:payout_scheduled", "host:payout_failed", "host:payout_scheduled"],
  );
});

for (const isOffline of [false, true]) {
  test(`a host with a debt is never paid, and gets the rest once the debt is paid, ${isOffline ? "by hand" : "by the provider"}`, async (t) => {
    const shop = await aHouse(t, { isOffline });
    const [host, admin] = [await shop.user(), await shop.user({ isAdmin: true })];
    if (!isOffline) await choose(shop, host, "stripe", { account_id: ACCOUNT });
    await earn(shop, host, 50n * DOLLAR);
    shop.clock.advance(TO_FRIDAY_MS);
    await shop.runLoop("invoice-earnings");
    const [{ id }] = await payoutsOf(shop, host);
    await giveBack(shop, host, 20n * DOLLAR);
    const settle = (body: object) => shop.call(admin, "PUT", `/api/v0/admin/payouts/${id}/`, body);
    if (isOffline) assert.equal((await settle({ state: "paid", reference: "PP-1" })).body.error, "payout_held");
    shop.clock.advance(WEEK_MS + 1000);
    await shop.runLoop("send-due-payouts");
    const [rest, returned] = await payoutsOf(shop, host);
    assert.deepEqual([returned.state, returned.failure], ["failed", "your earnings were $20 below zero"]);
    assert.deepEqual([rest.state, rest.fee, rest.amount], [isOffline ? "pending" : "paid", 0, 25]);
    assert.equal(await earningsLeft(shop, host), 0n);
    await shop.runLoop("invoice-earnings");
    assert.equal((await payoutsOf(shop, host)).length, 2, "nothing is invoiced twice");
    if (isOffline) {
      const paid = { state: "paid", reference: "PP-2" };
      assert.equal((await shop.call(admin, "PUT", `/api/v0/admin/payouts/${rest.id}/`, paid)).status, 200);
    }
    assert.deepEqual(
      shop.stripe.transfers.map(({ amount }) => amount),
      isOffline ? [] : [2500],
    );
    await shop.assertBooks();
  });
}

test("the rest of a payout after a debt stays in the earnings when it is below the minimum", async (t) => {
  const shop = await aHouse(t);
  const host = await shop.user();
  await choose(shop, host, "stripe", { account_id: ACCOUNT });
  await earn(shop, host, 50n * DOLLAR);
  shop.clock.advance(TO_FRIDAY_MS);
  await shop.runLoop("invoice-earnings");
  await giveBack(shop, host, 30n * DOLLAR);
  shop.clock.advance(WEEK_MS);
  await shop.runLoop("send-due-payouts");
  assert.deepEqual([(await payoutsOf(shop, host)).length, shop.stripe.transfers.length], [1, 0]);
  assert.equal(await earningsLeft(shop, host), 15n * DOLLAR);
});

test("a payout that no provider sends waits for an administrator, who alone sees its destination and records its outcome", async (t) => {
  const shop = await aHouse(t, { isOffline: true });
  const [host, admin] = [await shop.user(), await shop.user({ isAdmin: true })];
  const email = "payouts@example.com";
  const chosen = await choose(shop, host, "paypal", { email });
  assert.deepEqual([chosen.status, chosen.body.shown], [200, "p…@example.com"]);
  await earn(shop, host, 50n * DOLLAR);
  shop.clock.advance(TO_FRIDAY_MS);
  await shop.runLoop("invoice-earnings");
  shop.clock.advance(WEEK_MS);
  await shop.runLoop("send-due-payouts");
  const [{ id, state }] = await payoutsOf(shop, host);
  assert.equal(state, "pending");

  const { rows } = await shop.env.pool.query("select details_sealed from payout_methods");
  assert.ok(!JSON.stringify(rows).includes(email), "the details are sealed");
  for (const url of ["/api/v0/admin/payouts/", "/api/v0/admin/payouts/?state=pending"]) {
    const list = await shop.call(admin, "GET", url);
    assert.equal(list.body.payouts[0].email, host.email);
    assert.ok(!list.text.includes(email), "a list never has them");
  }
  const shown = await shop.call(admin, "GET", `/api/v0/admin/payouts/${id}/`);
  assert.deepEqual(shown.body.payout_method, { method: "paypal", details: { email } });
  assert.equal((await shop.call(host, "GET", `/api/v0/admin/payouts/${id}/`)).status, 403);

  const settle = (body: object) => shop.call(admin, "PUT", `/api/v0/admin/payouts/${id}/`, body);
  assert.equal((await settle({ state: "paid" })).body.field, "reference");
  assert.equal((await settle({ state: "failed" })).body.field, "reason");
  assert.equal((await settle({ state: "paid", reference: "PP-1" })).status, 200);
  assert.equal((await settle({ state: "paid", reference: "PP-2" })).body.error, "payout_settled");
  const [paid] = await payoutsOf(shop, host);
  assert.deepEqual([paid.state, paid.method, paid.reference], ["paid", "paypal", "PP-1"]);
  // The host's bank may still return it.
  assert.equal((await settle({ state: "failed", reason: "account closed" })).status, 200);
  assert.equal((await settle({ state: "failed", reason: "account closed" })).body.error, "payout_settled");
  assert.equal(await earningsLeft(shop, host), 45n * DOLLAR);
  assert.equal((await shop.call(admin, "GET", "/api/v0/admin/payouts/999/")).body.error, "no_such_payout");
  await shop.assertBooks();
});

test("a payout to a deleted account can be seen and settled like any other", async (t) => {
  const shop = await aHouse(t, { isOffline: true });
  const [host, admin] = [await shop.user(), await shop.user({ isAdmin: true })];
  await earn(shop, host, 50n * DOLLAR);
  shop.clock.advance(TO_FRIDAY_MS);
  await shop.runLoop("invoice-earnings");
  const [{ id }] = await payoutsOf(shop, host);
  await inTransaction(shop.env.database, (tx) => markUserDeleted(tx, host.id));
  const list = await shop.call(admin, "GET", "/api/v0/admin/payouts/");
  assert.deepEqual(
    list.body.payouts?.map((payout: { readonly email: unknown }) => payout.email),
    [null],
    list.text,
  );
  assert.equal((await shop.call(admin, "GET", `/api/v0/admin/payouts/${id}/`)).body.payout.email, null);
  const settled = await shop.call(admin, "PUT", `/api/v0/admin/payouts/${id}/`, { state: "paid", reference: "x" });
  assert.equal(settled.status, 200, settled.text);
});

test("payouts whose details cannot be decrypted do not hold up others", async (t) => {
  const shop = await aHouse(t);
  const hosts = await Promise.all(Array.from({ length: 21 }, () => shop.user()));
  for (const host of hosts) {
    await choose(shop, host, "stripe", { account_id: ACCOUNT });
    await earn(shop, host, 50n * DOLLAR);
  }
  shop.clock.advance(TO_FRIDAY_MS);
  await shop.runLoop("invoice-earnings");
  const last = hosts.at(-1);
  assert.ok(last);
  // Details that were encrypted for another host cannot be decrypted, like those under another secret.
  await shop.env.pool.query(
    `update payout_methods set details_sealed = (select details_sealed from payout_methods where user_id = $1)
     where user_id <> $1`,
    [last.id],
  );
  shop.clock.advance(WEEK_MS);
  await shop.runLoop("send-due-payouts");
  await shop.runLoop("send-due-payouts");
  assert.equal((await payoutsOf(shop, last))[0].state, "paid");
  assert.equal((await payoutsOf(shop, hosts[0] ?? last))[0].state, "pending");
});

test("a payout that is being sent cannot be settled by hand", async (t) => {
  const shop = await aHouse(t);
  const [host, admin] = [await shop.user(), await shop.user({ isAdmin: true })];
  await choose(shop, host, "stripe", { account_id: ACCOUNT });
  await earn(shop, host, 50n * DOLLAR);
  shop.clock.advance(TO_FRIDAY_MS);
  await shop.runLoop("invoice-earnings");
  shop.clock.advance(WEEK_MS);
  shop.stripe.outage = "after";
  await shop.runLoop("send-due-payouts");
  const [{ id, state }] = await payoutsOf(shop, host);
  assert.equal(state, "sending");
  const answer = await shop.call(admin, "PUT", `/api/v0/admin/payouts/${id}/`, { state: "paid", reference: "x" });
  assert.deepEqual([answer.status, answer.body.error], [409, "payout_in_progress"]);
});

test("hosts are invoiced in batches, each once per Friday, by any number of servers", async (t) => {
  const shop = await aHouse(t);
  const { rows } = await shop.env.pool.query<{ id: UserId }>(
    `insert into users (email, username, created_at)
     select 'h' || n || '@example.com', 'host', now() from generate_series(1, 230) n returning id`,
  );
  const earned = rows.map(({ id }) =>
    transferOf({ debit: ISSUANCE, credit: earningsOf(id), amount: 30n * DOLLAR, code: "usage_gpu" }),
  );
  await inTransaction(shop.env.database, (tx) => postTransfers(tx, earned));
  shop.clock.advance(TO_FRIDAY_MS);
  await Promise.all(Array.from({ length: 3 }, () => shop.runLoop("invoice-earnings")));
  await shop.runLoop("invoice-earnings");
  const counted = await shop.env.pool.query(
    "select count(*)::integer as count, count(distinct user_id)::integer as hosts from payouts",
  );
  assert.deepEqual(counted.rows, [{ count: 230, hosts: 230 }]);
  await shop.assertBooks();
});

test("a destination is checked, its wrong field is named, and it is shown only in part", async (t) => {
  const shop = await aHouse(t);
  const host = await shop.user();
  const refused: readonly (readonly [string, object, string])[] = [
    ["stripe", { account_id: "4242" }, "account_id"],
    ["wise", { email: "nobody" }, "email"],
    ["paypal", {}, "email"],
    ["bank", { country: "DE", iban: "DE89370400440532013000" }, "account_holder"],
    ["bank", { account_holder: "A. Host", iban: "DE89370400440532013000" }, "country"],
    ["bank", { account_holder: "A. Host", country: "DE", iban: "DE89370400440532013001" }, "iban"],
    ["bank", { account_holder: "A. Host", country: "US", account_number: "12345678" }, "routing_number"],
    ["cash", {}, "method"],
    ["bank", { account_holder: "A.\u001b[2JHost", country: "DE", iban: "DE89370400440532013000" }, "account_holder"],
    ["paypal", { email: "a\u001b[2J@example.com" }, "email"],
  ];
  for (const [method, details, field] of refused) {
    const answer = await choose(shop, host, method, details);
    assert.equal(answer.status, 400, answer.text);
    assert.equal(answer.body.field, field);
  }
  assert.equal((await shop.call(host, "GET", "/api/v0/billing/payout_method/")).body.method, null);
  const bank = { account_holder: "A. Host", country: "DE", iban: "DE89 3704 0044 0532 0130 00", bic: "COBADEFFXXX" };
  assert.equal((await choose(shop, host, "bank", bank)).body.shown, "DE …3000");
  const { text } = await shop.call(host, "GET", "/api/v0/billing/payout_method/");
  assert.ok(!text.includes("0532"));
});

test("without Stripe, a Stripe account is refused as a destination", async (t) => {
  const shop = await aHouse(t, { isOffline: true });
  const host = await shop.user();
  assert.equal((await choose(shop, host, "stripe", { account_id: ACCOUNT })).body.field, "method");
});
