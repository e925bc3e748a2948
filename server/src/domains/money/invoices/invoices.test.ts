import assert from "node:assert/strict";
import { after, test } from "node:test";
import { aCaller, aKey, inTransaction, type TestCaller } from "../../../../../test/support/fixtures.ts";
import { postCharges } from "../../../../../test/support/money/charge-lines.ts";
import { grantOf, transferOf } from "../../../../../test/support/money/ledger.ts";
import { testDatabase } from "../../../../../test/support/database/postgres.ts";
import { serveRoutes } from "../../../../../test/support/network/serve.ts";
import { systemClock, type Clock } from "../../../base/clock.ts";
import { NANOS_PER_DOLLAR } from "../../../base/money.ts";
import { withTransaction } from "../../../db/transaction.ts";
import { createTransferPoster, creditOf, earningsOf, FEES, postTransfers } from "../ledger/index.ts";
import { PAYOUTS } from "../ledger/for-payments.ts";
import type { TransferRequest } from "../ledger/index.ts";
import { invoiceRoutes } from "./index.ts";
import type { InvoiceItem } from "./schema.ts";

const { database, pool } = await testDatabase();
const NOON = new Date("2026-03-10T12:00:00Z");
const clock: Clock = { ...systemClock, now: () => NOON };
const poster = createTransferPoster(database, clock);
const { call, close } = await serveRoutes(database, (scope) => invoiceRoutes(scope, { poster }), clock);
after(close);

const DOLLAR = NANOS_PER_DOLLAR;

async function post(at: string, requests: readonly TransferRequest[]): Promise<void> {
  const then: Clock = { ...systemClock, now: () => new Date(at) };
  const outcomes = await withTransaction(database, then, (tx) => postTransfers(tx, requests));
  assert.ok(outcomes.every(({ kind }) => kind === "posted"));
}

/** A renter with credit, two days of usage, a fee and credit transfers in both directions, and a host with a payout. */
async function aPast() {
  const [renter, host, friend] = [await aCaller(database), await aCaller(database), await aCaller(database)];
  const [renterCredit, hostEarnings, friendCredit] = [creditOf(renter.id), earningsOf(host.id), creditOf(friend.id)];
  await post("2026-02-27T10:00:00Z", [grantOf(renter.id, 100n * DOLLAR), grantOf(friend.id, 10n * DOLLAR)]);
  const between = { payer: renter.id, host: host.id };
  const hours = (amount: bigint, hourCount: bigint, instance = 71) =>
    ({
      component: "gpu",
      amount,
      quantity: (hourCount * 3_600_000n) / 2n,
      unitPrice: (2n * amount) / hourCount,
      instance,
    }) as const;
  await postCharges(database, "2026-02-28T10:00:00Z", between, [hours(2n * DOLLAR, 4n)]);
  await postCharges(database, "2026-03-01T10:00:00Z", between, [hours(DOLLAR, 1n), hours(DOLLAR, 1n)]);
  await postCharges(database, "2026-03-01T11:00:00.7Z", between, [
    { component: "disk", amount: DOLLAR / 4n, quantity: 2_592_000_000n },
    { component: "bwu", amount: DOLLAR / 10n, quantity: 2_500_000_000n, unitPrice: DOLLAR / 25n },
    hours(3n * DOLLAR, 2n, 72),
  ]);
  await post("2026-03-01T11:00:00.7Z", [
    transferOf({ debit: renterCredit, credit: FEES, amount: DOLLAR / 2n, code: "fee" }),
  ]);
  await post("2026-03-02T10:00:00Z", [
    transferOf({ debit: renterCredit, credit: friendCredit, amount: 5n * DOLLAR }),
    transferOf({ debit: friendCredit, credit: renterCredit, amount: DOLLAR }),
    transferOf({ debit: hostEarnings, credit: PAYOUTS, amount: 6n * DOLLAR, code: "payout" }),
  ]);
  return { renter, host, friend };
}

async function reportOf(as: TestCaller, query = "") {
  const answer = await call("GET", `/api/v0/users/me/invoices${query}`, { as });
  assert.equal(answer.status, 200, answer.text);
  const { invoices, current } = answer.body as {
    invoices: InvoiceItem[];
    current: Record<"charges" | "service_fee" | "total" | "credit", number>;
  };
  return { invoices, current, text: answer.text, body: answer.body };
}

const brief = (items: readonly InvoiceItem[]) =>
  items.map(({ type, service, amount }) => `${type} ${service} ${amount}`);

test("a new user has an empty report with every field of the contract, and no nulls", async () => {
  const user = await aCaller(database);
  const { body, text } = await reportOf(user);
  assert.deepEqual(body, {
    invoices: [],
    username: user.username,
    bill_to: user.username,
    email: user.email,
    fullname: "",
    address1: "",
    address2: "",
    city: "",
    zip: "",
    country: "",
    taxinfo: "",
    current: { charges: 0, service_fee: 0, total: 0, credit: 0 },
  });
  assert.ok(!text.includes("null"));
});

test("the billing address is a block of lines without gaps", async () => {
  const user = await aCaller(database);
  await pool.query(
    `update users set fullname = 'Ada L', billaddress_line1 = '1 Mill Lane', billaddress_city = 'Ware',
      billaddress_zip = 'SG12', billaddress_country = 'GB', taxinfo = 'GB123' where id = $1`,
    [user.id],
  );
  const { body } = await reportOf(user);
  assert.equal(body["bill_to"], "Ada L\n1 Mill Lane\nWare, SG12\nGB\nGB123");
  assert.deepEqual([body["address1"], body["city"], body["zip"]], ["1 Mill Lane", "Ware", "SG12"]);
});

test("without flags a report has movements and no charges, newest first", async () => {
  const { renter, friend } = await aPast();
  const { invoices } = await reportOf(renter);
  assert.deepEqual(brief(invoices), ["payment transfer 1", "payment transfer -5", "payment credit 100"]);
  assert.deepEqual(
    invoices.map(({ is_credit }) => is_credit),
    [true, false, true],
  );
  assert.deepEqual(brief((await reportOf(friend)).invoices), [
    "payment transfer -1",
    "payment transfer 5",
    "payment credit 10",
  ]);
});

test("inc_charges adds usage per day, component and instance, with its quantity and rate", async () => {
  const { renter } = await aPast();
  const { invoices } = await reportOf(renter, "?inc_charges=true");
  assert.deepEqual(brief(invoices).toSorted(), [
    "charge bwu 0.1",
    "charge disk 0.25",
    "charge fee 0.5",
    "charge gpu 2",
    "charge gpu 2",
    "charge gpu 3",
    "payment credit 100",
    "payment transfer -5",
    "payment transfer 1",
  ]);
  const gpu = invoices.filter(({ service, instance_id }) => service === "gpu" && instance_id === 71);
  assert.deepEqual(
    gpu.map(({ amount, quantity, rate, timestamp }) => [amount, quantity, rate, timestamp]),
    [
      [2, 1, 2, Date.parse("2026-03-01T10:00:00Z") / 1000],
      [2, 2, 1, Date.parse("2026-02-28T10:00:00Z") / 1000],
    ],
  );
  const [sent] = invoices.filter(({ service }) => service === "bwu");
  assert.deepEqual([sent?.quantity, sent?.rate], [2.5, 0.04]);
  assert.deepEqual(sent?.timestamp, Date.parse("2026-03-01T11:00:00Z") / 1000);
  assert.equal(new Set(invoices.map(({ id }) => id)).size, invoices.length);
  assert.ok(invoices.every(({ last4, description }) => last4 === "" && description !== ""));
});

test("payments less charges equal the remaining credit", async () => {
  const { renter } = await aPast();
  const { invoices, current } = await reportOf(renter, "?inc_charges=1");
  const cents = invoices.map(({ type, amount }) => Math.round(amount * 100) * (type === "charge" ? -1 : 1));
  assert.equal(cents.reduce((sum, amount) => sum + amount, 0) / 100, current.credit);
  assert.equal(current.credit, 88.15);
});

test("current has this month's usage and fees, and the spendable credit", async () => {
  const { renter } = await aPast();
  const { current } = await reportOf(renter, "?edate=2020-01-01");
  assert.deepEqual(current, { charges: 5.35, service_fee: 0.5, total: 5.85, credit: 88.15 });
});

test("current has the fee that is due on a host's earnings, at the current rate", async (t) => {
  const { host } = await aPast();
  t.after(() => pool.query("update payment_rules set fee_ppm = 0"));
  await pool.query("update payment_rules set fee_ppm = 200000");
  const { current } = await reportOf(host);
  // The host earned $7.35 from the renter, and $6.00 of them were paid out.
  assert.deepEqual([current.service_fee, current.total], [0.27, 0.27]);
});

test("payouts can be left out or shown alone, with and without charges", async () => {
  const { host } = await aPast();
  assert.deepEqual(brief((await reportOf(host)).invoices), ["payment payout 6"]);
  assert.deepEqual(brief((await reportOf(host, "?only_payouts=True&inc_charges=True")).invoices), ["payment payout 6"]);
  assert.deepEqual((await reportOf(host, "?no_payouts=true")).invoices, []);
  const { renter } = await aPast();
  assert.deepEqual((await reportOf(renter, "?only_payouts=true&inc_charges=true")).invoices, []);
});

test("dates limit the items, in every form, both ends included", async () => {
  const { renter } = await aPast();
  const count = async (query: string) => (await reportOf(renter, `?inc_charges=true&${query}`)).invoices.length;
  assert.equal(await count("sdate=2026-03-02"), 2);
  assert.equal(await count("sdate=03/01/2026&edate=03/01/2026"), 5);
  assert.equal(await count("sdate=2026-03-02T10:00:00Z&edate=2026-03-02T10:00:00Z"), 2);
  assert.equal(await count(`edate=${Date.parse("2026-02-28T10:00:00Z") / 1000}.0`), 2);
  assert.equal(await count("edate=2026-02-27T09:59:59"), 0);
  assert.equal(await count("sdate=null&edate=&no_payouts=null&only_payouts="), 9);
});

test("a malformed or contradictory value is refused by the name of its field", async () => {
  const user = await aCaller(database);
  const refusals = {
    "sdate=yesterday": "sdate",
    "edate=2023-02-29": "edate",
    "sdate=1700000000000": "sdate",
    "sdate=2026-03-02&edate=2026-03-01": "sdate",
    "only_payouts=true&no_payouts=true": "only_payouts",
    "inc_charges=perhaps": "inc_charges",
    "no_payouts=2": "no_payouts",
  };
  for (const [query, field] of Object.entries(refusals)) {
    const { status, body } = await call("GET", `/api/v0/users/me/invoices/?${query}`, { as: user });
    assert.equal(status, 400, query);
    assert.deepEqual([body["success"], body["error"], body["field"]], [false, "invalid_args", field]);
  }
});

test("users read their own report by id or me; only administrators read others'; none without the permission", async () => {
  const [user, other] = [await aCaller(database), await aCaller(database)];
  const admin = await aCaller(database, { isAdmin: true });
  const show = (as: TestCaller | undefined, id: string | number) =>
    call("GET", `/api/v0/users/${id}/invoices/`, as === undefined ? {} : { as });
  assert.equal((await show(user, user.id)).body["email"], user.email);
  assert.equal((await show(admin, user.id)).body["email"], user.email);
  for (const id of [other.id, 999_999_999, "someone"]) assert.equal((await show(user, id)).status, 403);
  assert.equal((await show(admin, 999_999_999)).status, 404);
  assert.equal((await show(undefined, "me")).status, 401);
  const narrow = await inTransaction(database, (tx) => aKey(tx, user, { permissions: { api: { user_read: {} } } }));
  assert.equal((await show({ ...user, secret: narrow.secret }, "me")).status, 403);
});
