import assert from "node:assert/strict";
import { test } from "node:test";
import { inTransaction } from "../../../../../test/support/fixtures.ts";
import { transferOf } from "../../../../../test/support/money/ledger.ts";
import { testApp } from "../../../../../test/support/app.ts";
import { StripeServer } from "../../../../../test/support/money/stripe-server.ts";
import { earningsOf, ISSUANCE, postTransfer } from "../ledger/index.ts";
import { NO_PAYMENTS, setFeeRate } from "./for-assembly.ts";

test("in the whole server, a top-up that saves the card shows in the account, and the card is then charged automatically", async (t) => {
  const stripe = await StripeServer.start();
  t.after(() => stripe.close());
  const app = await testApp(t, { payments: { ...NO_PAYMENTS, stripe: stripe.settings } });
  const user = await app.caller({ dollars: 0 });
  const own = async () => (await app.call({ method: "GET", url: "/api/v0/users/current/", secret: user.secret })).body;
  const before = await own();
  assert.deepEqual(
    [before.has_billing, before.last4, before.can_pay, before.billing_creditonly, before.has_payout],
    [false, "", false, true, false],
  );
  const body = { amount: 25, save_card: true };
  await app.call({ method: "POST", url: "/api/v0/billing/checkout/", secret: user.secret, body });
  for (const event of stripe.pay(stripe.lastSession)) {
    const { url, headers, payload } = stripe.delivery(event, app.clock.now());
    assert.equal((await app.call({ method: "POST", url, headers, text: payload })).status, 200);
  }
  const paid = await own();
  assert.deepEqual(
    [paid.has_billing, paid.last4, paid.can_pay, paid.billing_creditonly, paid.credit],
    [true, "4242", true, false, 25],
  );
  const changes = { balance_threshold: 30, balance_threshold_enabled: true };
  await app.call({ method: "PUT", url: "/api/v0/users/", secret: user.secret, body: changes });
  await app.runLoop("charge-due-cards");
  assert.equal((await own()).credit, 55);
  await app.assertBooks();
});

test("a host's report of earnings states the fee of the next invoice", async (t) => {
  const app = await testApp(t);
  const host = await app.caller({ dollars: 0 });
  const earned = { debit: ISSUANCE, credit: earningsOf(host.id), amount: 8_000_000_000n, code: "usage_gpu" } as const;
  await inTransaction(app.env.database, async (tx) => {
    await setFeeRate(tx, { feePpm: 25_000 });
    await postTransfer(tx, transferOf(earned));
  });
  const { body } = await app.call({ url: "/api/v0/users/me/machine-earnings/", secret: host.secret });
  assert.deepEqual(body.current, { balance: 8, service_fee: 0.2, total: 7.8, credit: 0 });
});

test("a Host header without a host is refused", async (t) => {
  const app = await testApp(t);
  const user = await app.caller();
  const call = { method: "POST", url: "/api/v0/billing/checkout/", secret: user.secret, body: { amount: 5 } } as const;
  for (const host of ["a b", "[", "a:b:c", "http://x", "x:99999999"]) {
    const answer = await app.call({ ...call, headers: { host } });
    assert.equal(Math.floor(answer.status / 100), 4, `${host}: ${answer.text}`);
  }
});
