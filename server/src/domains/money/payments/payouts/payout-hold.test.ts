import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { inTransaction, type TestCaller } from "../../../../../../test/support/fixtures.ts";
import { transferOf } from "../../../../../../test/support/money/ledger.ts";
import { ManualClock } from "../../../../../../test/support/manual-clock.ts";
import { aPaymentShop, type PaymentShop } from "../../../../../../test/support/money/payments.ts";
import { earningsOf, ISSUANCE, postTransfers } from "../../ledger/index.ts";
import { hasOpenPayoutHold, listOpenPayoutHolds, placePayoutHold, releasePayoutHold } from "../index.ts";

const DOLLAR = 1_000_000_000n;
const HOUR_MS = 3_600_000;
const WEEK_MS = 168 * HOUR_MS;
const FLAGGED = {
  kind: "flagged_host",
  reason: "The machines report more traffic than their line can carry.",
} as const;

/** A Thursday noon, and a host with an account at the provider who has earned 50 dollars. */
async function aHostWithEarnings(t: TestContext) {
  const shop = await aPaymentShop(t, { clock: new ManualClock("2026-01-01T12:00:00Z") });
  await shop.runLoop("invoice-earnings");
  const host = await shop.user();
  await shop.call(host, "PUT", "/api/v0/billing/payout_method/", {
    method: "stripe",
    details: { account_id: "acct_1TestHost0001" },
  });
  const earned = transferOf({ debit: ISSUANCE, credit: earningsOf(host.id), amount: 50n * DOLLAR, code: "usage_gpu" });
  await inTransaction(shop.env.database, (tx) => postTransfers(tx, [earned]));
  return { shop, host };
}

const hold = (shop: PaymentShop, { id: userId }: TestCaller) =>
  inTransaction(shop.env.database, (tx) => placePayoutHold(tx, { userId, ...FLAGGED }));

const release = (shop: PaymentShop, { id: userId }: TestCaller) =>
  inTransaction(shop.env.database, (tx) =>
    releasePayoutHold(tx, { userId, kind: FLAGGED.kind, reason: "The counters agree again." }),
  );

const payouts = async (shop: PaymentShop, host: TestCaller) =>
  (await shop.call(host, "GET", "/api/v0/billing/payouts/")).body;

test("while a hold is open no payout is made, and the first Friday after the release invoices everything", async (t) => {
  const { shop, host } = await aHostWithEarnings(t);
  await hold(shop, host);
  shop.clock.advance(12 * HOUR_MS);
  assert.deepEqual(await shop.runLoop("invoice-earnings"), { invoiced: 0 });
  const shown = await payouts(shop, host);
  assert.deepEqual(
    [shown.payouts, shown.holds.map(({ kind, reason }: typeof FLAGGED) => ({ kind, reason }))],
    [[], [FLAGGED]],
  );
  assert.equal(await release(shop, host), true);
  assert.deepEqual((await payouts(shop, host)).holds, []);
  shop.clock.advance(WEEK_MS);
  assert.deepEqual(await shop.runLoop("invoice-earnings"), { invoiced: 1 });
  assert.equal((await payouts(shop, host)).payouts[0].amount, 50);
  await shop.assertBooks();
});

test("while a hold is open no payout is sent, neither by the provider nor by hand", async (t) => {
  const { shop, host } = await aHostWithEarnings(t);
  const admin = await shop.user({ isAdmin: true });
  shop.clock.advance(12 * HOUR_MS);
  await shop.runLoop("invoice-earnings");
  await hold(shop, host);
  shop.clock.advance(WEEK_MS);
  await shop.runLoop("send-due-payouts");
  assert.equal(shop.stripe.transfers.length, 0);
  const [{ id }] = (await payouts(shop, host)).payouts;
  const byHand = await shop.call(admin, "PUT", `/api/v0/admin/payouts/${id}/`, { state: "paid", reference: "wire 1" });
  assert.deepEqual([byHand.status, byHand.body.error], [409, "payout_held"]);
  await release(shop, host);
  await shop.runLoop("send-due-payouts");
  assert.deepEqual(
    shop.stripe.transfers.map(({ amount }) => amount),
    [5000],
  );
});

test("a hold that is placed twice is one hold of its kind, and the host is notified of each hold and release once", async (t) => {
  const { shop, host } = await aHostWithEarnings(t);
  const { kysely: db } = shop.env.database;
  const first = await hold(shop, host);
  const second = await hold(shop, host);
  assert.deepEqual([first.isNew, second], [true, { id: first.id, isNew: false }]);
  await inTransaction(shop.env.database, (tx) =>
    placePayoutHold(tx, { userId: host.id, kind: "unverified", reason: "No machine of yours is verified." }),
  );
  assert.deepEqual(
    (await listOpenPayoutHolds(db, host.id)).map(({ kind }) => kind),
    ["flagged_host", "unverified"],
  );
  assert.deepEqual([await release(shop, host), await release(shop, host)], [true, false]);
  assert.equal(await hasOpenPayoutHold(db, host.id), true, "the other kind is open still");
  const again = await hold(shop, host);
  assert.equal(again.isNew, true);
  const { rows } = await shop.env.database.pool.query<{ kind: string }>(
    "select kind from notices where user_id = $1 order by id",
    [host.id],
  );
  assert.deepEqual(
    rows.map(({ kind }) => kind),
    ["host:payout_held", "host:payout_held", "host:payout_released", "host:payout_held"],
  );
});

test("only its one release changes a hold", async (t) => {
  const { shop, host } = await aHostWithEarnings(t);
  await hold(shop, host);
  const { pool } = shop.env.database;
  await assert.rejects(pool.query("update payout_holds set reason = 'none'"), /released once/);
  await release(shop, host);
  await assert.rejects(pool.query("update payout_holds set released_at = now()"), /released once/);
  await assert.rejects(pool.query("delete from payout_holds"), /released once/);
});

test("an administrator holds the payouts of a host and releases holds, with a reason for the host", async (t) => {
  const { shop, host } = await aHostWithEarnings(t);
  const admin = await shop.user({ isAdmin: true });
  const path = "/api/v0/admin/payout_holds/";
  assert.equal((await shop.call(host, "POST", path, { user: host.email, reason: "mine" })).status, 403);
  const nobody = await shop.call(admin, "POST", path, { user: "99999", reason: "Nobody is there." });
  assert.deepEqual([nobody.status, nobody.body.error], [404, "no_such_user"]);
  const reason = "We are looking into reports of renters.";
  const held = await shop.call(admin, "POST", path, { user: host.email.toUpperCase(), reason });
  assert.deepEqual([held.status, held.body.is_new], [200, true]);
  assert.equal((await shop.call(admin, "POST", path, { user: String(host.id), reason })).body.is_new, false);
  const [open] = (await shop.call(admin, "GET", path)).body.holds;
  assert.deepEqual([open.user_id, open.kind, open.placed_by, open.reason], [host.id, "operator", admin.id, reason]);
  const released = await shop.call(admin, "PUT", `${path}${held.body.id}/`, { reason: "They were wrong." });
  assert.equal(released.status, 200);
  const again = await shop.call(admin, "PUT", `${path}${held.body.id}/`, { reason: "They were wrong." });
  assert.deepEqual([again.status, again.body.error], [404, "no_such_payout_hold"]);
  const { rows } = await shop.env.database.pool.query(
    "select action from audit_events where user_id = $1 order by id",
    [admin.id],
  );
  const told = await shop.env.database.pool.query("select subject from notices where user_id = $1 order by id", [
    admin.id,
  ]);
  assert.deepEqual(
    told.rows.map(({ subject }) => String(subject)),
    [`Payouts of account ${host.id} are held`, `A hold on payouts of account ${host.id} is released`],
  );
  const actions = rows.map(({ action }) => String(action));
  assert.deepEqual(actions, ["api.admin.hold_payouts", "api.admin.hold_payouts", "api.admin.release_payouts"]);
});
