import assert from "node:assert/strict";
import { test } from "node:test";
import { inTransaction, type TestCaller } from "../../../../../../test/support/fixtures.ts";
import { transferOf } from "../../../../../../test/support/money/ledger.ts";
import { ManualClock } from "../../../../../../test/support/manual-clock.ts";
import { aPaymentShop, type PaymentShop } from "../../../../../../test/support/money/payments.ts";
import { balanceOf, earningsOf, ISSUANCE, postTransfers } from "../../ledger/index.ts";
import { audit } from "../../audit/audit-service.ts";

const DOLLAR = 1_000_000_000n;
const DAY_MS = 86_400_000;
const NOT_OURS = "00000000-0000-4000-8000-000000000000";

/** A host who has earned fifty dollars and whose payout was just requested, with this outcome. */
async function aPaidHost(t: Parameters<typeof aPaymentShop>[0], outage: "none" | "after" = "none") {
  const shop = await aPaymentShop(t, { clock: new ManualClock("2026-01-01T12:00:00Z") });
  await shop.runLoop("invoice-earnings");
  const host = await shop.user();
  const details = { account_id: "acct_1TestHost0001" };
  await shop.call(host, "PUT", "/api/v0/billing/payout_method/", { method: "stripe", details });
  const earned = transferOf({
    debit: ISSUANCE,
    credit: earningsOf(host.id),
    amount: 50n * DOLLAR,
    code: "usage_gpu",
  });
  await inTransaction(shop.env.database, (tx) => postTransfers(tx, [earned]));
  shop.clock.advance(DAY_MS / 2);
  await shop.runLoop("invoice-earnings");
  shop.clock.advance(7 * DAY_MS);
  shop.stripe.outage = outage;
  await shop.runLoop("send-due-payouts");
  shop.stripe.outage = "none";
  const [transfer] = shop.stripe.transfers;
  assert.ok(transfer);
  return { shop, host, transfer };
}

const earningsLeft = async ({ env }: PaymentShop, { id }: TestCaller) =>
  (await balanceOf(env.database.kysely, id, "earnings")).balance;

async function stateOf(shop: PaymentShop, host: TestCaller): Promise<readonly [string, string | null]> {
  const { body } = await shop.call(host, "GET", "/api/v0/billing/payouts/");
  return [body.payouts[0].state, body.payouts[0].failure];
}

/** Asserts that the payouts agree with the ledger. */
async function assertAudited({ env, clock }: PaymentShop): Promise<void> {
  const { checks } = await audit({ database: env.database, clock }, { isFull: true });
  const found = checks.filter(({ name }) => name === "payments" || name === "balances");
  assert.deepEqual(
    found.flatMap(({ differences }) => differences),
    [],
  );
}

test("a payout that the provider takes back returns to earnings once, and its host is notified", async (t) => {
  const { shop, host, transfer } = await aPaidHost(t);
  assert.equal(await earningsLeft(shop, host), 0n);
  // Two events of one reversal, and each of them twice.
  const events = [shop.stripe.reversed(transfer), shop.stripe.reversed(transfer)];
  await shop.deliverAll([...events, ...events]);
  assert.deepEqual(await stateOf(shop, host), ["failed", `it was taken back (${transfer.id})`]);
  assert.equal(await earningsLeft(shop, host), 50n * DOLLAR);
  const { rows } = await shop.env.pool.query("select kind from notices where user_id = $1 order by id", [host.id]);
  assert.deepEqual(
    rows.map(({ kind }) => kind),
    ["host:payout_scheduled", "host:payout_sent", "host:payout_failed"],
  );
  await shop.assertBooks();
});

test("a payout may be taken back before it is known that it was sent", async (t) => {
  const { shop, host, transfer } = await aPaidHost(t, "after");
  assert.deepEqual(await stateOf(shop, host), ["sending", null]);
  await shop.deliverAll([shop.stripe.reversed(transfer)]);
  shop.clock.advance(DAY_MS);
  await shop.runLoop("send-due-payouts");
  assert.equal((await stateOf(shop, host))[0], "failed");
  assert.equal(await earningsLeft(shop, host), 50n * DOLLAR);
  assert.equal(shop.stripe.transfers.length, 1);
  await shop.assertBooks();
});

test("a part that is taken back returns to earnings, and later parts add to it, in any order of events", async (t) => {
  const { shop, host, transfer } = await aPaidHost(t);
  const events = [1000, 3001, 2000, 3001].map((cents) => shop.stripe.reversed(transfer, cents));
  const left: bigint[] = [];
  for (const event of [...events, ...events]) {
    await shop.deliverAll([event]);
    left.push(await earningsLeft(shop, host));
    await assertAudited(shop);
  }
  assert.deepEqual(left, [10n * DOLLAR, ...Array.from({ length: 7 }, () => 30_010_000_000n)]);
  assert.deepEqual(await stateOf(shop, host), ["paid", null]);
  const { body } = await shop.call(host, "GET", "/api/v0/billing/payouts/");
  assert.deepEqual([body.payouts[0].amount, body.payouts[0].returned], [50, 30.01]);
  shop.clock.advance(7 * DAY_MS);
  await shop.runLoop("invoice-earnings");
  const again = (await shop.call(host, "GET", "/api/v0/billing/payouts/")).body.payouts[0];
  assert.deepEqual([again.amount, again.earned, again.fee], [30.01, 0, 0], "it bore its fee before");
  await shop.deliverAll([shop.stripe.reversed(transfer)]);
  assert.equal(await earningsLeft(shop, host), 19_990_000_000n, "the rest of the first one");
  const { rows } = await shop.env.pool.query(
    "select message from notices where user_id = $1 and kind = 'host:payout_failed' order by id",
    [host.id],
  );
  assert.deepEqual(
    rows.map(({ message }) => /\$[\d.]+ came back/.exec(message)?.[0]),
    ["$10.00 came back", "$20.01 came back", "$19.99 came back"],
  );
  await assertAudited(shop);
});

test("a part may be taken back before it is known that the payout was sent, which shows that it was", async (t) => {
  const { shop, host, transfer } = await aPaidHost(t, "after");
  await shop.deliverAll([shop.stripe.reversed(transfer, 1000)]);
  assert.equal((await stateOf(shop, host))[0], "paid");
  shop.clock.advance(DAY_MS);
  await shop.runLoop("send-due-payouts");
  assert.equal(await earningsLeft(shop, host), 10n * DOLLAR);
  assert.equal(shop.stripe.transfers.length, 1);
  await shop.assertBooks();
});

test("an administrator's return of a payout covers the part that has not come back", async (t) => {
  const { shop, host, transfer } = await aPaidHost(t);
  await shop.deliverAll([shop.stripe.reversed(transfer, 1000)]);
  const admin = await shop.user({ isAdmin: true });
  const { body } = await shop.call(host, "GET", "/api/v0/billing/payouts/");
  const settled = { state: "failed", reason: "the account is closed" };
  const answer = await shop.call(admin, "PUT", `/api/v0/admin/payouts/${body.payouts[0].id}/`, settled);
  assert.equal(answer.status, 200);
  assert.deepEqual(await stateOf(shop, host), ["failed", "the account is closed"]);
  assert.equal(await earningsLeft(shop, host), 50n * DOLLAR);
  await shop.deliverAll([shop.stripe.reversed(transfer)]);
  assert.equal(await earningsLeft(shop, host), 50n * DOLLAR);
  await assertAudited(shop);
});

test("a reversal of an unknown payout moves nothing", async (t) => {
  const { shop, host, transfer } = await aPaidHost(t);
  const { metadata } = transfer;
  await shop.deliverAll([
    shop.stripe.reversed({ ...transfer, id: "tr_other" }),
    shop.stripe.reversed({ ...transfer, metadata: { ...metadata, berth_installation: NOT_OURS } }),
    shop.stripe.reversed({ ...transfer, metadata: { ...metadata, berth_payout: "999" } }),
    shop.stripe.reversed({ ...transfer, metadata: {} }),
  ]);
  assert.equal((await stateOf(shop, host))[0], "paid");
  assert.equal(await earningsLeft(shop, host), 0n);
  await shop.assertBooks();
});
