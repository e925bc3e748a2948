import assert from "node:assert/strict";
import { test } from "node:test";
import { answer } from "../test/answering-server.ts";

const SETTLE = "PUT /api/v0/admin/payouts/12/";

test("a top-up prints the page to pay on, and keeps the card when asked to", async (t) => {
  const path = "POST /api/v0/billing/checkout/";
  const body = { success: true, url: "https://pay.example/1", payment_id: 9 };
  const { received, berth } = await answer(t, { [path]: { body } });
  const { stdout } = await berth("billing", "top-up", "25.5", "--save-card");
  assert.equal(
    stdout,
    "Pay $25.50 on this page (payment 9); your credit has it seconds later:\nhttps://pay.example/1\n",
  );
  assert.deepEqual(received, [[path, { amount: 25.5, save_card: true }]]);
});

test("cards are listed by their last digits and expiry, with the one that is charged", async (t) => {
  const card = { id: 3, brand: "visa", last4: "4242", exp_month: 2, exp_year: 2031, is_default: true, created_at: 1 };
  const { berth } = await answer(t, {
    "GET /api/v0/billing/payment_methods/": { body: { success: true, payment_methods: [card] } },
  });
  const [title = "", row = ""] = (await berth("billing", "cards")).stdout.split("\n");
  assert.deepEqual(title.split(/ {2,}/), ["ID", "CARD", "EXPIRES", "CHARGED"]);
  assert.deepEqual(row.trim().split(/ {2,}/), ["3", "visa …4242", "02/2031", "automatically"]);
});

test("automatic payments are shown as they are, and changed by what is named only", async (t) => {
  const path = "/api/v0/billing/autobill/";
  const body = {
    success: true,
    enabled: true,
    threshold: 10,
    amount: 40,
    last4: "4242",
    failure_count: 0,
    retry_at: null,
  };
  const { received, berth } = await answer(t, { [`GET ${path}`]: { body }, [`PUT ${path}`]: { body } });
  assert.match(
    (await berth("billing", "autobill")).stdout,
    /automatic +on\nthreshold +\$10\.00\namount +\$40\.00\ncard +…4242/,
  );
  await berth("billing", "autobill", "--off");
  await berth("billing", "autobill", "--on", "--threshold", "0", "--amount", "40");
  assert.deepEqual(received.slice(1), [
    [`PUT ${path}`, { enabled: false }],
    [`PUT ${path}`, { enabled: true, threshold: 0, amount: 40 }],
  ]);
});

test("a host says where payouts go, by the names of the API, and sees what it is shown of it", async (t) => {
  const path = "PUT /api/v0/billing/payout_method/";
  const { received, berth } = await answer(t, {
    [path]: { body: { success: true, method: "bank", shown: "DE …3000", updated_at: 1 } },
  });
  const bank = ["--account-holder", "A. Host", "--country", "DE", "--iban", "DE89370400440532013000"];
  assert.equal((await berth("host", "payout-method", "bank", ...bank)).stdout, "Payouts go to bank: DE …3000\n");
  const details = { account_holder: "A. Host", country: "DE", iban: "DE89370400440532013000" };
  assert.deepEqual(received, [[path, { method: "bank", details }]]);
});

test("an administrator settles a payout with a reference or a reason, and not without", async (t) => {
  const { received, berth } = await answer(t, { [SETTLE]: { body: { success: true } } });
  await berth("admin", "payout-paid", "12", "--reference", "wire 7");
  await berth("admin", "payout-failed", "12", "--reason", "closed");
  assert.deepEqual(received, [
    [SETTLE, { state: "paid", reference: "wire 7" }],
    [SETTLE, { state: "failed", reason: "closed" }],
  ]);
  assert.equal((await berth("admin", "payout-paid", "12")).code, 2);
});

test("a host sees what of its earnings is payable, and why the rest waits", async (t) => {
  const earnings = {
    ...{ balance: 104, payable: 30, granted: 60, young: 14, held: 0, debt: 0 },
    ...{ card_hold_days: 14, granted_after_days: null },
  };
  const body = { success: true, fee_percent: 0, holds: [], earnings, payouts: [] };
  const { berth } = await answer(t, { "GET /api/v0/billing/payouts/": { body } });
  const { stdout } = await berth("host", "payouts");
  assert.match(stdout, /In no payout yet: \$104\.00, of which \$30\.00 is payable now\./);
  assert.match(stdout, /\$60\.00 came of granted credit; an administrator releases it\./);
  assert.match(stdout, /\$14\.00 came of card payments of the last 14 days/);
});

test("an administrator releases granted earnings by address or id, and says why", async (t) => {
  const path = "POST /api/v0/admin/earnings/release/";
  const { received, berth } = await answer(t, { [path]: { body: { success: true, user_id: 7, released: 5 } } });
  await berth("admin", "release-earnings", "host@example.com", "5", "--reason", "paid by wire");
  await berth("admin", "release-earnings", "7", "--reason", "paid by wire");
  assert.deepEqual(received, [
    [path, { email: "host@example.com", amount: 5, reason: "paid by wire" }],
    [path, { user_id: 7, reason: "paid by wire" }],
  ]);
  assert.equal((await berth("admin", "release-earnings", "7")).code, 2);
});
