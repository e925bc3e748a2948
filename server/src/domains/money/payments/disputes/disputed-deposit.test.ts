import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { creditOfUser, testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { linesOf, settleNow } from "../../../../../../test/support/money/charges.ts";
import { depositBalance, HOUR_MS, listedHost, pass, prepay } from "../../../../../../test/support/money/contracts.ts";
import { inTransaction, type TestCaller } from "../../../../../../test/support/fixtures.ts";
import { grantOf, transferOf } from "../../../../../../test/support/money/ledger.ts";
import { meet } from "../../../../../../test/support/database/lock-order.ts";
import { rentAndRun, stored } from "../../../../../../test/support/rentals.ts";
import { StripeServer, type StripeEvent } from "../../../../../../test/support/money/stripe-server.ts";
import { aTeam, done, join } from "../../../../../../test/support/teams.ts";
import { nanos } from "../../../../base/money.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import { asId, type UserId } from "../../../../base/ids.ts";
import { ALL_SIDES } from "../../invoices/movements/rules/movements.ts";
import { creditOf, postTransfers } from "../../ledger/index.ts";
import { listMovements } from "../../ledger/for-invoices.ts";
import { audit } from "../../audit/audit-service.ts";
import { NO_PAYMENTS } from "../for-assembly.ts";
import { releasePayoutHold } from "../index.ts";

const DOLLAR = 1_000_000_000n;

/** A renter with the credit of these payments, at a host that costs a dollar an hour. */
async function aMarket(t: TestContext, payments: readonly number[]) {
  const stripe = await StripeServer.start();
  t.after(() => stripe.close());
  const world = await testApp(t, { payments: { ...NO_PAYMENTS, stripe: stripe.settings } });
  const deliver = async (event: StripeEvent) => {
    const { url, headers, payload } = stripe.delivery(event, world.clock.now());
    const answer = await world.call({ method: "POST", url, headers, text: payload });
    assert.equal(answer.status, 200, answer.text);
  };
  const [host, renter] = [await listedHost(world), await world.caller({ dollars: 0 })];
  const intents: string[] = [];
  /** The facts that the provider will report about a payment. */
  const pay = async (amount: number) => {
    const body = { amount };
    const page = await world.call({ method: "POST", url: "/api/v0/billing/checkout/", secret: renter.secret, body });
    assert.equal(page.status, 200, page.text);
    const events = stripe.pay(stripe.lastSession);
    return { events, intent: [...stripe.intents.keys()].at(-1) ?? "" };
  };
  for (const amount of payments) {
    const { events, intent } = await pay(amount);
    for (const event of events) await deliver(event);
    intents.push(intent);
  }
  const tell = (number: number, state: "needs_response" | "won") =>
    deliver(stripe.disputed(intents[number] ?? "", (payments[number] ?? 0) * 100, state));
  /** Pays and disputes the payment: delivers the events of both. */
  const payAndDispute = async (amount: number) => {
    const { events, intent } = await pay(amount);
    return { paid: events, disputed: stripe.disputed(intent, amount * 100, "needs_response") };
  };
  return { world, host, renter, tell, deliver, payAndDispute };
}

async function assertAudited(world: TestApp): Promise<void> {
  const { checks } = await audit({ database: world.env.database, clock: world.clock }, { isFull: true });
  assert.deepEqual(
    checks.flatMap(({ differences }) => differences),
    [],
  );
  await world.assertBooks();
}

async function depositOfUser({ env }: TestApp, { id }: TestCaller) {
  const { rows } = await env.pool.query<{ balance: bigint; cash: bigint }>(
    `select balance_nanos as balance, balance_nanos - granted_nanos as cash from ledger_accounts
     where user_id = $1 and kind like 'deposit:%'`,
    [id],
  );
  return { balance: BigInt(rows[0]?.balance ?? 0), cash: BigInt(rows[0]?.cash ?? 0) };
}

test("a deposit keeps no part of a disputed payment, and pays no host with it", async (t) => {
  const { world, host, renter, tell } = await aMarket(t, [20]);
  const id = await rentAndRun(world, renter, host);
  assert.equal((await prepay(world, renter, id, 10)).status, 200);
  await pass(world, host, 2 * HOUR_MS);
  await tell(0, "needs_response");
  await tell(0, "needs_response");
  assert.equal((await creditOfUser(world, renter)).balance, 0n);
  assert.deepEqual(await depositOfUser(world, renter), { balance: 0n, cash: 0n });
  const { rows: parts } = await world.env.pool.query(
    "select account_kind, amount_nanos from payment_takings order by id",
  );
  assert.deepEqual(
    parts.map((row) => row["account_kind"]),
    [`deposit:${id}`, "earnings"],
    "the renter's own deposit comes before the host",
  );
  const fromHost = BigInt(parts[1]?.["amount_nanos"]);
  assert.equal(BigInt(parts[0]?.["amount_nanos"]) + fromHost, 10n * DOLLAR, "what it used first is its host's");
  const { body: after } = await depositBalance(world, renter, id);
  assert.deepEqual([after.deposit, after.discount_rate ?? 0], [0, 0]);
  const { rows: notices } = await world.env.pool.query(
    "select message from notices where user_id = $1 and message like '%came out of the deposit of instance%'",
    [renter.id],
  );
  assert.equal(notices.length, 1);
  await settleNow(world);
  await host.obey();
  assert.equal((await stored(world, id)).phase, "stopped", "nothing pays for it");
  await assertAudited(world);

  await tell(0, "won");
  await tell(0, "won");
  assert.equal((await creditOfUser(world, renter)).balance, 20n * DOLLAR - fromHost, "the deposit's part is credit");
  assert.deepEqual(await depositOfUser(world, renter), { balance: 0n, cash: 0n });
  assert.equal((await prepay(world, renter, id, 10)).status, 200, "and can be prepaid with");
  await assertAudited(world);
});

test("usage before a dispute is charged, and its host has the amount again when the house wins", async (t) => {
  const { world, host, renter, tell } = await aMarket(t, [20]);
  const id = await rentAndRun(world, renter, host);
  await pass(world, host, 6 * 60_000);
  const charged = async () => (await linesOf(world, id)).reduce((sum, line) => sum + BigInt(line.amount_nanos), 0n);
  const earned = async () => {
    const { rows } = await world.env.pool.query(
      "select l.balance_nanos from ledger_accounts l join machines m on m.host_id = l.user_id where m.id = $1 and kind = 'earnings'",
      [host.machineId],
    );
    return BigInt(rows[0]?.["balance_nanos"] ?? 0);
  };
  await tell(0, "needs_response");
  assert.equal(await charged(), DOLLAR / 10n, "six minutes at a dollar an hour");
  assert.equal(await earned(), 0n, "the card paid it, and the card has it again");
  await world.runLoop("settle-runs");
  await host.obey();
  assert.equal((await stored(world, id)).phase, "stopped", "at once, although less than what is set aside was used");
  await assertAudited(world);

  await tell(0, "won");
  assert.equal(await charged(), DOLLAR / 10n);
  assert.equal(await earned(), DOLLAR / 10n);
  await assertAudited(world);
});

test("a deposit that loses a part to a dispute gives the discount of the rest", async (t) => {
  const { world, host, renter, tell } = await aMarket(t, [300, 300]);
  const id = await rentAndRun(world, renter, host);
  assert.equal((await prepay(world, renter, id, 576)).body.discount_rate, 0.2);
  await tell(1, "needs_response");
  const { balance } = await depositOfUser(world, renter);
  const missing = 300n * DOLLAR - balance;
  assert.ok(missing >= 0n && missing < DOLLAR / 100n, `beside what is set aside, credit gave its part: ${balance}`);
  const { rows } = await world.env.pool.query("select discount_ppm from instances where id = $1", [id]);
  const left = Number(rows[0]?.["discount_ppm"]);
  assert.ok(left > 80_000 && left < 100_000, `${left}`);
  await pass(world, host, HOUR_MS);
  await settleNow(world);
  await assertAudited(world);
});

test("a dispute takes the cash of a deposit, and leaves its granted part", async (t) => {
  const { world, host, renter, tell } = await aMarket(t, [20]);
  await inTransaction(world.env.database, (tx) => postTransfers(tx, [grantOf(renter.id, nanos(5n * DOLLAR))]));
  const id = await rentAndRun(world, renter, host);
  assert.equal((await prepay(world, renter, id, 15)).status, 200);
  assert.deepEqual(await depositOfUser(world, renter), { balance: 15n * DOLLAR, cash: 10n * DOLLAR });
  await tell(0, "needs_response");
  assert.deepEqual(await depositOfUser(world, renter), { balance: 5n * DOLLAR, cash: 0n });
  assert.equal((await creditOfUser(world, renter)).balance, 0n);
  await assertAudited(world);
});

const ON_DEPOSIT = "where account_kind like 'deposit:%'";
const TAMPERINGS: readonly (readonly [statement: string, named: RegExp])[] = [
  [
    `set amount_nanos = amount_nanos + 1 ${ON_DEPOSIT}`,
    /what was taken from deposit:\d+ \d+ through [\d,]+ is not what its/,
  ],
  [`set given_back_at = taken_at ${ON_DEPOSIT}`, /what was taken from deposit:\d+ \d+ through [\d,]+ is not what its/],
  [`set user_id = through[1] ${ON_DEPOSIT}`, /the taking is noted for another account, or for another way to it/],
  [
    `set account_kind = 'deposit:999' ${ON_DEPOSIT}`,
    /the taking is noted for another account, or for another way to it/,
  ],
  [`set through = '{}' ${ON_DEPOSIT}`, /the taking is noted for another account, or for another way to it/],
  [
    `set account_kind = 'earnings' where through = '{}'`,
    /the taking is noted for another account, or for another way to it/,
  ],
];

/** Asserts that the audit names each changed, deleted and added row in one difference. */
async function assertTamperingIsNamed({ env, clock }: TestApp): Promise<void> {
  await env.pool.query("create table kept as table payment_takings");
  const statements = [
    ...TAMPERINGS.map(([change, named]) => [`update payment_takings ${change}`, named] as const),
    [
      `delete from payment_takings ${ON_DEPOSIT}`,
      /something was taken from deposit:\d+ \d+ through [\d,]+ without a note/,
    ],
    [
      `insert into payment_takings (return_key, account_kind, user_id, amount_nanos, taken_at)
       select return_key, 'earnings', user_id, 7, taken_at from kept limit 1`,
      /what was taken from earnings \d+ is not what its transfers took/,
    ],
  ] as const;
  for (const [statement, named] of statements) {
    await env.pool.query(statement);
    const { checks } = await audit({ database: env.database, clock }, { isFull: false });
    const found = checks.flatMap(({ differences }) =>
      differences.map(({ subject, problem }) => `${subject}: ${problem}`),
    );
    assert.equal(found.length, 1, `${statement}: ${found.join("\n")}`);
    assert.match(found[0] ?? "", named);
    await env.pool.query("delete from payment_takings");
    await env.pool.query("insert into payment_takings overriding system value select * from kept");
  }
}

/** The first invoices of users begin with zero: movements and usage explain the whole balance at their end. */
async function assertInvoicesAddUp(world: TestApp, userIds: readonly number[]): Promise<void> {
  world.clock.jump(40 * 24 * HOUR_MS);
  await world.runLoop("issue-invoices");
  const { rows } = await world.env.pool.query<{ balance: Record<string, unknown> }>(
    "select content -> 'balance' as balance from invoice_documents where user_id = any($1)",
    [userIds],
  );
  assert.equal(rows.length, userIds.length);
  for (const { balance } of rows) assert.equal(balance["opening_nanos"], "0", JSON.stringify(balance));
  const labels = rows.flatMap(({ balance }) => (balance["entries"] as { label: string }[]).map(({ label }) => label));
  for (const label of ["Moved to you because of disputes", "Moved from you because of disputes"]) {
    assert.ok(labels.includes(label), label);
  }
}

test("credit that was sent on through a team, a member and a subaccount is followed, and returns to each account", async (t) => {
  const { world, host, renter, tell } = await aMarket(t, [100]);
  await pass(world, host, 15 * 24 * HOUR_MS);
  const member = await world.caller({ dollars: 0 });
  const team = await aTeam(world, renter, { credit: 90 });
  await join(world, team, member);
  const send = async (secret: string, recipient: unknown, amount: number) =>
    done(world, secret, "PUT", "/commands/transfer_credit/", { client_id: "me", recipient, amount });
  await send(team.secret, member.id, 80);
  const names = { email: "lab@example.com", username: "lab", password: "long enough" };
  const child = await done(world, member.secret, "POST", "/users/", { parent_id: "me", ...names });
  await send(member.secret, child.id, 30);
  const id = await rentAndRun(world, member, host);
  assert.equal((await prepay(world, member, id, 20)).status, 200);
  await pass(world, host, HOUR_MS);

  const all = [renter, { id: team.id }, member, { id: child.id }] as TestCaller[];
  const has = async () => Promise.all(all.map(async (one) => (await creditOfUser(world, one)).balance));
  await settleNow(world);
  const before = await has();
  const prepaid = await depositOfUser(world, member);
  await tell(0, "needs_response");
  const { rows: takings } = await world.env.pool.query<{ kind: string; through: number[]; amount: string }>(
    "select account_kind as kind, through, amount_nanos::text as amount from payment_takings order by id",
  );
  assert.deepEqual(
    takings.map(({ kind, through }) => [kind, through]),
    [
      ["credit", []],
      ["credit", [team.id]],
      [`deposit:${id}`, [team.id, member.id]],
      ["credit", [team.id, member.id]],
    ],
    "the nearest first, and no host: the payment is too old for that",
  );
  const taken = takings.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  const owed = -(await creditOfUser(world, renter)).balance;
  assert.equal(taken + owed, 90n * DOLLAR, "beside the ten dollars that the payer still had");
  assert.ok(owed > 0n && owed < 2n * DOLLAR, "what was used for an hour, and what is set aside, is the payer's debt");
  assert.deepEqual(await depositOfUser(world, member), { balance: 0n, cash: 0n });
  assert.equal((await creditOfUser(world, { id: child.id } as TestCaller)).balance, 0n);
  const { rows: notices } = await world.env.pool.query<{ message: string }>(
    "select message from notices where user_id = $1 and kind = 'client:credit_taken_back'",
    [child.id],
  );
  assert.match(
    notices[0]?.message ?? "",
    new RegExp(`^\\$30 left your credit\\. .*credit from user ${member.id} came from`),
  );
  await assertAudited(world);
  await assertTamperingIsNamed(world);

  await tell(0, "won");
  const fromDeposit = prepaid.balance;
  const [first = 0n, second = 0n, third = 0n, ...rest] = before;
  assert.deepEqual(await has(), [first, second, third + fromDeposit, ...rest], "a deposit comes back as credit");
  await assertAudited(world);
  await assertInvoicesAddUp(
    world,
    all.map((one) => one.id),
  );
  const { movements } = await listMovements(world.env.database.kysely, asId<UserId>(member.id), {
    from: new Date(0),
    until: world.clock.now(),
    sides: ALL_SIDES.filter(({ code, direction }) => code === "taken_back" && direction === "out"),
    order: "when",
    isDescending: false,
    after: undefined,
    limit: 10,
  });
  assert.deepEqual(
    movements.map(({ accountKind }) => accountKind),
    ["credit", "deposit"],
    "the member's list shows what left the credit, and what left the deposit",
  );
});

test("a host gives back money that reached it through others once, also after it failed a renter who paid it", async (t) => {
  const { world, host, renter, tell } = await aMarket(t, [20]);
  const friend = await world.caller({ dollars: 0 });
  const gift = { debit: creditOf(renter.id), credit: creditOf(friend.id), amount: 20n * DOLLAR } as const;
  await withTransaction(world.env.database, world.clock, (tx) => postTransfers(tx, [transferOf(gift)]));
  const id = await rentAndRun(world, friend, host);
  await pass(world, host, HOUR_MS / 2);
  await settleNow(world);
  await tell(0, "needs_response");
  const earnings = async () => {
    const { rows } = await world.env.pool.query("select balance_nanos from ledger_accounts where kind = 'earnings'");
    return rows.map((row) => BigInt(row["balance_nanos"]));
  };
  assert.deepEqual(await earnings(), [0n]);
  const counters = { running_ms: HOUR_MS / 2, received_bytes: 0, sent_bytes: 0 };
  await host.report([{ instance_id: id, generation: 1, state: "absent", counters }]);
  await host.obey();
  await settleNow(world);
  assert.deepEqual(await earnings(), [0n], "what went back to the payer is not given back to the renter as well");
  await assertAudited(world);
});

test("a dispute takes the same amounts, whether it is reported before, after or together with its payment", async (t) => {
  const { world, host, renter, deliver, payAndDispute } = await aMarket(t, [20]);
  const id = await rentAndRun(world, renter, host);
  assert.equal((await prepay(world, renter, id, 15)).status, 200);
  const has = async () => (await creditOfUser(world, renter)).balance + (await depositOfUser(world, renter)).balance;
  const before = await has();
  const orders = {
    "the payment first": async ({ paid, disputed }: Awaited<ReturnType<typeof payAndDispute>>) => {
      for (const event of [...paid, disputed]) await deliver(event);
    },
    "the dispute first": async ({ paid, disputed }: Awaited<ReturnType<typeof payAndDispute>>) => {
      for (const event of [disputed, ...paid]) await deliver(event);
    },
    "at once": async ({ paid, disputed }: Awaited<ReturnType<typeof payAndDispute>>) => {
      await Promise.all([disputed, ...paid].map(deliver));
    },
  };
  for (const [order, tellBoth] of Object.entries(orders)) {
    await tellBoth(await payAndDispute(30));
    assert.equal(await has(), before, order);
    const release = { userId: renter.id, kind: "disputed_money", reason: "The next payment is taken." } as const;
    await withTransaction(world.env.database, world.clock, (tx) => releasePayoutHold(tx, release));
  }
  await assertAudited(world);
});

test("a payment whose dispute came first locks the instances of deposits before any account", async (t) => {
  const { world, host, renter, deliver, payAndDispute } = await aMarket(t, [20]);
  const id = await rentAndRun(world, renter, host);
  assert.equal((await prepay(world, renter, id, 15)).status, 200);
  const { paid, disputed } = await payAndDispute(30);
  await deliver(disputed);
  await meet(world, { table: "instances", id, user: renter }, async () => {
    for (const event of paid) await deliver(event);
  });
  const { rows } = await world.env.pool.query("select taken_nanos from payment_returns");
  assert.deepEqual(
    rows.map((row) => BigInt(row["taken_nanos"])),
    [30n * DOLLAR],
  );
  await assertAudited(world);
});
