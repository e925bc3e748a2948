import assert from "node:assert/strict";
import { test } from "node:test";
import { inTransaction, type TestCaller } from "../../../../test/support/fixtures.ts";
import { transferOf } from "../../../../test/support/ledger.ts";
import { ManualClock } from "../../../../test/support/manual-clock.ts";
import { aPaymentShop, type PaymentShop } from "../../../../test/support/payments.ts";
import { balanceOf, earningsOf, ISSUANCE, postTransfers } from "../ledger/index.ts";

const DOLLAR = 1_000_000_000n;
const DAY_MS = 86_400_000;
const NOT_OURS = "00000000-0000-4000-8000-000000000000";

/** A host who has earned fifty dollars and whose payout was just asked for, with this luck. */
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

test("a payout that the provider takes back is earnings again, once, and its host is told", async (t) => {
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

test("it may be taken back before it is known that it was sent", async (t) => {
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

test("what is not the whole of a payout of ours moves nothing", async (t) => {
  const { shop, host, transfer } = await aPaidHost(t);
  const { metadata } = transfer;
  await shop.deliverAll([
    shop.stripe.reversed(transfer, 4999),
    shop.stripe.reversed({ ...transfer, id: "tr_other" }),
    shop.stripe.reversed({ ...transfer, metadata: { ...metadata, berth_installation: NOT_OURS } }),
    shop.stripe.reversed({ ...transfer, metadata: { ...metadata, berth_payout: "999" } }),
    shop.stripe.reversed({ ...transfer, metadata: {} }),
  ]);
  assert.equal((await stateOf(shop, host))[0], "paid");
  assert.equal(await earningsLeft(shop, host), 0n);
  await shop.assertBooks();
});
