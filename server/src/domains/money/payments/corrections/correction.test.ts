import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { aCaller, type TestCaller } from "../../../../../../test/support/fixtures.ts";
import { transferOf } from "../../../../../../test/support/money/ledger.ts";
import { ask, done } from "../../../../../../test/support/teams.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import { creditOf, earningsOf, ISSUANCE, postTransfers, readEarnings } from "../../ledger/index.ts";
import { PAYOUTS } from "../../ledger/for-payments.ts";

const DOLLAR = 1_000_000_000n;
const DAY_MS = 86_400_000;
const FRAUD = { reason: "Its machines billed traffic that never was.", reference: "case-7" } as const;

type House = { readonly world: TestApp; readonly admin: TestCaller; readonly host: TestCaller };

/** A host who earned $50, of which $40 were paid out. */
async function aHouse(t: TestContext): Promise<House> {
  const world = await testApp(t);
  const admin = await aCaller(world.env.database, { isAdmin: true });
  const host = await world.caller({ dollars: 0 });
  const earned = transferOf({ debit: ISSUANCE, credit: earningsOf(host.id), amount: 50n * DOLLAR, code: "usage_gpu" });
  const paid = transferOf({ debit: earningsOf(host.id), credit: PAYOUTS, amount: 40n * DOLLAR, code: "payout" });
  await withTransaction(world.env.database, world.clock, (tx) => postTransfers(tx, [earned, paid]));
  return { world, admin, host };
}

const takeBack = ({ world, admin, host }: House, amount: number, more: object = {}) =>
  ask(world, admin.secret, "POST", "/admin/earnings/take_back/", { user: String(host.id), amount, ...FRAUD, ...more });

const correct = ({ world, admin }: House, user: TestCaller, amount: number, more: object = {}) =>
  ask(world, admin.secret, "POST", "/admin/corrections/", {
    user: String(user.id),
    amount,
    reason: "Billed twice.",
    reference: "case-8",
    ...more,
  });

async function notificationsOf(
  { world }: House,
  user: TestCaller,
): Promise<readonly { type: string; message: string }[]> {
  return (await done(world, user.secret, "GET", "/notices/")).notices;
}

async function movementsOf(
  { world }: House,
  user: TestCaller,
): Promise<readonly { description: string; amount: number }[]> {
  const filters = encodeURIComponent(JSON.stringify({ when: { gte: 0, lte: 4e9 } }));
  const answer = await world.call({ url: `/api/v1/invoices/?select_filters=${filters}`, secret: user.secret });
  return answer.body.results;
}

test("earnings that are taken back are a visible entry with its reason, and become negative when they were paid out", async (t) => {
  const house = await aHouse(t);
  const { world, admin, host } = house;
  const answer = await takeBack(house, 25);
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual([answer.body.is_new, answer.body.balance, answer.body.user_id], [true, -15, host.id]);
  const { earnings } = await done(world, host.secret, "GET", "/billing/payouts/");
  assert.deepEqual([earnings.payable, earnings.debt], [0, 15]);

  const entry = (await movementsOf(house, host)).find(({ description }) => description.includes("taken back"));
  assert.deepEqual([entry?.description, entry?.amount], [`Earnings taken back: ${FRAUD.reason}`, -25]);

  const [told] = await notificationsOf(house, host);
  assert.match(
    told?.message ?? "",
    /\$25 was taken out of your earnings \(reference case-7\).*never was\..*-?15.*later earnings/,
  );
  assert.deepEqual(
    (await notificationsOf(house, admin)).map(({ type }) => type),
    ["client:administrator_acted"],
  );
  const [event] = await done(world, admin.secret, "GET", "/audit_logs/");
  assert.deepEqual([event.api_route, event.args.reference], ["api.admin.take_back_earnings", "case-7"]);

  const more = transferOf({ debit: ISSUANCE, credit: earningsOf(host.id), amount: 20n * DOLLAR, code: "usage_gpu" });
  await withTransaction(world.env.database, world.clock, (tx) => postTransfers(tx, [more]));
  assert.equal((await readEarnings(world.env.database.kysely, host.id)).balanceNanos, 5n * DOLLAR);
  await world.assertBooks();
});

test("a host loses at most its earnings, however often and by however many administrators", async (t) => {
  const house = await aHouse(t);
  const { world, host } = house;
  const beyond = await takeBack(house, 50.01);
  assert.deepEqual([beyond.status, beyond.body.field], [400, "amount"], beyond.text);
  assert.match(beyond.body.msg, /at most \$50/);
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, index) => takeBack(house, 20, { reference: `case-${index}` })),
  );
  assert.equal(answers.filter(({ status }) => status === 200).length, 2);
  assert.equal((await takeBack(house, 10, { reference: "the-rest" })).status, 200);
  assert.equal((await takeBack(house, 0.01, { reference: "nothing-left" })).status, 400);
  assert.equal((await readEarnings(world.env.database.kysely, host.id)).balanceNanos, -40n * DOLLAR);
  await world.assertBooks();
});

test("one case is booked once, although several administrators book it concurrently", async (t) => {
  const house = await aHouse(t);
  const { world, host } = house;
  const colleague = await aCaller(world.env.database, { isAdmin: true });
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, index) => takeBack(index % 2 === 0 ? house : { ...house, admin: colleague }, 5)),
  );
  assert.equal(answers.filter(({ body }) => body.is_new === true).length, 1, "one books it");
  assert.equal(answers.filter(({ body }) => body.is_new === false).length, 2, "its own repetitions are answered");
  assert.deepEqual(
    answers.flatMap(({ body }) => (body.success ? [] : [body.error])),
    ["reference_used", "reference_used", "reference_used"],
  );
  assert.equal((await takeBack(house, 6)).body.error, "reference_used", "another amount of the same case");
  assert.equal((await readEarnings(world.env.database.kysely, host.id)).balanceNanos, 5n * DOLLAR);
});

test("a correction is a separate line of the month's document, in either direction and on either side", async (t) => {
  const house = await aHouse(t);
  const { world, admin, host } = house;
  const renter = await world.caller({ dollars: 10 });
  const up = await correct(house, renter, 2.5);
  assert.deepEqual([up.status, up.body.balance], [200, 12.5], up.text);
  const down = await correct(house, renter, -4, { reference: "case-9", reason: "Granted by mistake." });
  assert.equal(down.body.balance, 8.5);
  const tooMuch = await correct(house, renter, -9, { reference: "case-10" });
  assert.deepEqual([tooMuch.status, tooMuch.body.field], [400, "amount"], "credit is not brought below zero");
  assert.equal((await correct(house, host, 3, { side: "earnings" })).body.balance, 13);
  assert.equal((await correct(house, host, -54, { side: "earnings", reference: "case-11" })).status, 400);
  assert.equal((await correct(house, host, -53, { side: "earnings", reference: "case-12" })).body.balance, -40);
  const own = await correct({ ...house, admin: renter }, renter, 1000);
  assert.deepEqual([own.status, own.body.error], [403, "not_authorized"]);
  assert.equal((await correct(house, renter, 0)).status, 400);

  assert.deepEqual(
    (await notificationsOf(house, renter)).map(({ type }) => type),
    ["client:account_corrected", "client:account_corrected"],
  );
  assert.equal((await notificationsOf(house, admin)).length, 4);
  const reasons = (await movementsOf(house, renter)).map(({ description }) => description);
  assert.ok(reasons.includes("Correction: Billed twice.") && reasons.includes("Correction: Granted by mistake."));

  world.clock.jump(34 * DAY_MS);
  await world.runLoop("issue-invoices");
  const [{ number }] = (await done(world, renter.secret, "GET", "/invoice_documents/")).results;
  const { balance } = await done(world, renter.secret, "GET", `/invoice_documents/${number}/`);
  const amountOf = (label: string) =>
    balance.entries.find((entry: { readonly label: string }) => entry.label === label)?.amount;
  assert.deepEqual([amountOf("Corrections in your favour"), amountOf("Corrections charged")], [2.5, -4]);
  await world.assertBooks();
});

test("a correction is cash of the house, and the granted part that it takes stays out of payouts", async (t) => {
  const house = await aHouse(t);
  const { world, host } = house;
  const renter = await world.caller({ dollars: 10 });
  await correct(house, renter, 5);
  const spent = transferOf({
    debit: creditOf(renter.id),
    credit: earningsOf(host.id),
    amount: 15n * DOLLAR,
    code: "usage_gpu",
  });
  await withTransaction(world.env.database, world.clock, (tx) => postTransfers(tx, [spent]));
  const { grantedNanos } = await readEarnings(world.env.database.kysely, host.id);
  await takeBack(house, 5);
  const after = await readEarnings(world.env.database.kysely, host.id);
  assert.equal(after.grantedNanos, grantedNanos, "what is taken back is cash as far as there is any");
  await world.assertBooks();
});
