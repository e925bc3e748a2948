import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { creditOfUser, testApp, type TestApp } from "../../../../../test/support/app.ts";
import { settleNow } from "../../../../../test/support/money/charges.ts";
import {
  DAY_MS,
  depositBalance,
  HOUR_MS,
  listedHost,
  pass,
  prepay,
} from "../../../../../test/support/money/contracts.ts";
import { destroy, rent, rentAndRun, setState, show, stored } from "../../../../../test/support/rentals.ts";
import { asId, type InstanceId } from "../../../base/ids.ts";
import { withTransaction } from "../../../db/transaction.ts";
import { describeMachines } from "../../supply/hosts/index.ts";
import { destroyInstances, lockMachinesOf } from "../../rental/instances/index.ts";
import { returnDeposit } from "./deposit-service.ts";

const DOLLAR = 1_000_000_000n;
const GUIDE = path.join(import.meta.dirname, "../../../../../docs/reserved.md");

/** `[days, deposit, saved, back]` of each row of the guide's example. */
function exampleRows(): readonly (readonly number[])[] {
  const rows = readFileSync(GUIDE, "utf8").matchAll(/^\| (\d+) days +\| \$(\S+) +\| \$(\S+) +\| \$(\S+) +\|$/gm);
  return [...rows].map(([, ...numbers]) => numbers.map(Number));
}

/** The balance of all accounts of one kind: payments in less payments out. */
async function flow({ env }: TestApp, kind: string): Promise<bigint> {
  const { rows } = await env.pool.query<{ sum: bigint }>(
    "select coalesce(sum(balance_nanos), 0)::bigint as sum from ledger_accounts where kind like $1",
    [kind],
  );
  return rows[0]!.sum;
}

/** Destroys the instance, and charges its last running time. */
async function end(world: TestApp, user: Parameters<typeof destroy>[1], id: number, host: { obey(): Promise<void> }) {
  assert.equal((await destroy(world, user, id)).status, 200);
  await host.obey();
  await settleNow(world);
}

test("the worked example of the guide comes out as written", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await listedHost(world), await world.caller({ dollars: 1000 })];
  const id = await rentAndRun(world, user, host);
  assert.deepEqual((await prepay(world, user, id, 576)).body, {
    success: true,
    timescale: 1,
    discount_rate: 0.2,
    deposit: 576,
  });
  const rows = exampleRows();
  assert.equal(rows.length, 3);
  let day = 0;
  for (const [days, deposit, saved, back] of rows) {
    await pass(world, host, (days! - day) * DAY_MS);
    day = days!;
    await settleNow(world);
    const { body } = await depositBalance(world, user, id);
    assert.deepEqual([body.deposit, body.total_discount, body.refundable_deposit], [deposit, saved, back], `${days}`);
  }
  assert.equal(await flow(world, "earnings"), 576n * DOLLAR);
  await world.assertBooks();
});

test("an early end divides what is left between renter, host and fees, once, however often that is tried", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await listedHost(world), await world.caller({ dollars: 1000 })];
  const id = await rentAndRun(world, user, host);
  await prepay(world, user, id, 576);
  await pass(world, host, 15 * DAY_MS);
  await settleNow(world);
  assert.deepEqual(await world.runLoop("return-deposits"), { returned: 0 }, "it is not over");
  await end(world, user, id, host);
  // Four processes at once.
  const outcomes = await Promise.all([1, 2, 3, 4].map(() => world.runLoop("return-deposits")));
  const returned = outcomes.map((outcome) => (outcome as { returned: number }).returned);
  assert.equal(
    returned.reduce((sum, count) => sum + count, 0),
    1,
  );
  const { database } = world.env;
  const again = () => withTransaction(database, world.clock, (tx) => returnDeposit(tx, asId<InstanceId>(id)));
  assert.deepEqual(await Promise.all([again(), again(), again()]), [false, false, false]);
  assert.deepEqual(await world.runLoop("return-deposits"), { returned: 0 });
  assert.equal((await creditOfUser(world, user)).balance, 636_400_000_000n);
  assert.equal(await flow(world, "deposit:%"), 0n);
  assert.equal(await flow(world, "earnings"), 360n * DOLLAR, "half a month, at the full price after all");
  assert.equal(await flow(world, "fees"), 3_600_000_000n);
  assert.equal((await depositBalance(world, user, id)).status, 404);
  await world.assertBooks();
});

const BROKEN_PROMISES = {
  "its verification": "update machines set verification = 'deverified' where id = $1",
  "its right to reconnect":
    "update agent_credentials set revoked_at = now() where id = (select agent_credential_id from machines where id = $1)",
  "its connection for an hour":
    "update machines set is_connected = false, last_seen_at = last_seen_at - interval '61 min' where id = $1",
};

test("a machine that lost its verification, its right to reconnect or its connection gives the whole rest back", async (t) => {
  const world = await testApp(t);
  for (const [name, breakPromise] of Object.entries(BROKEN_PROMISES)) {
    const [host, user] = [await listedHost(world), await world.caller({ dollars: 1000 })];
    const id = await rentAndRun(world, user, host);
    await prepay(world, user, id, 576);
    await pass(world, host, 15 * DAY_MS);
    await destroy(world, user, id);
    await host.obey();
    await settleNow(world);
    await world.env.pool.query(breakPromise, [host.machineId]);
    await world.runLoop("return-deposits");
    assert.equal((await creditOfUser(world, user)).balance, 712n * DOLLAR, name);
  }
  await world.assertBooks();
});

test("a rental that its host ends gives the whole rest back", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await listedHost(world), await world.caller({ dollars: 1000 })];
  const id = await rentAndRun(world, user, host);
  await prepay(world, user, id, 576);
  await pass(world, host, 15 * DAY_MS);
  await withTransaction(world.env.database, world.clock, async (tx) => {
    const ids = [asId<InstanceId>(id)];
    await lockMachinesOf(tx, ids);
    const machine = (await describeMachines(tx.db, [host.machineId])).get(host.machineId);
    await destroyInstances(tx, ids, { actor: `user:${machine?.hostId}`, cause: "machine_deleted" });
  });
  await host.obey();
  await settleNow(world);
  await world.runLoop("return-deposits");
  assert.equal((await creditOfUser(world, user)).balance, 712n * DOLLAR);
  await world.assertBooks();
});

test("a rental that was not stopped before its end date gets the rest back whole; a stopped one pays for its discount", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await listedHost(world, { days: 30 }, { gpus: 2 }), await world.caller({ dollars: 2000 })];
  const [loyal, early] = [await rentAndRun(world, user, host), await rentAndRun(world, user, host)];
  for (const id of [loyal, early]) assert.equal((await prepay(world, user, id, 576)).status, 200);
  await pass(world, host, 10 * DAY_MS);
  await setState(world, user, early, "stopped");
  await host.obey();
  // The host is away for a part of the time, and nothing runs then.
  await host.disconnect();
  world.clock.jump(15 * DAY_MS);
  await host.connect();
  const counters = { running_ms: 10 * DAY_MS, received_bytes: 0, sent_bytes: 0 };
  await host.report([{ instance_id: loyal, generation: 1, state: "stopped", counters }]);
  await host.obey();
  await pass(world, host, 6 * DAY_MS);
  await world.runLoop("end-contracts");
  await host.obey();
  for (const id of [loyal, early]) await destroy(world, user, id);
  await host.obey();
  await settleNow(world);
  await world.runLoop("return-deposits");
  const { rows } = await world.env.pool.query<{ id: string; amount: bigint }>(
    "select cause ->> 'instance_id' as id, amount_nanos as amount from ledger_transfers where code = 'refund'",
  );
  const refunds = new Map(rows.map((row) => [Number(row.id), row.amount]));
  const { rows: left } = await world.env.pool.query<{ instance_id: number; saved: bigint; credited: bigint }>(
    `select instance_id, saved_nanos as saved, coalesce(
       (select sum(credited_nanos) from host_faults f where f.instance_id = deposits.instance_id), 0
     )::bigint as credited from deposits`,
  );
  for (const { instance_id: id, saved, credited } of left) {
    assert.equal(credited > 0n, id === loyal, "the host that stopped a run by itself gave some of it back");
    const rest = 576n * DOLLAR - 4n * saved + credited; // Four dollars are paid for each that is saved.
    assert.ok(saved > 0n && rest > 0n, `${id}`);
    assert.equal(refunds.get(id), id === loyal ? rest : rest - (saved * 105n) / 100n);
  }
  await world.assertBooks();
});

test("the end of a deposit splits a stretch: the discount up to it, the full price after it", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await listedHost(world), await world.caller({ dollars: 1000 })];
  const id = await rentAndRun(world, user, host);
  await prepay(world, user, id, 72);
  const { discount_rate: rate, deposit } = (await depositBalance(world, user, id)).body;
  assert.equal(deposit, 72);
  assert.ok(rate > 0 && rate < 0.2);
  await pass(world, host, 10 * DAY_MS);
  assert.deepEqual(await settleNow(world), { settled: 1, lines: 11, stopped: 0 }, "ten days, one of them in two parts");
  const { rows } = await world.env.pool.query<{ kind: string; ms: string; amount: bigint; saved: string | null }>(
    `select a.kind, (t.cause ->> 'quantity')::numeric * 1000 as ms, t.amount_nanos as amount,
       t.cause ->> 'discount_nanos' as saved
     from ledger_transfers t join ledger_accounts a on a.id = t.debit_account_id where t.code = 'usage_gpu' order by t.id`,
  );
  const firstFromCredit = rows.findIndex(({ kind }) => kind === "credit");
  assert.ok(
    firstFromCredit > 0 &&
      rows.every(({ kind }, index) => kind === (index < firstFromCredit ? `deposit:${id}` : "credit")),
  );
  const total = (some: typeof rows) => some.reduce((sum, { amount }) => sum + amount, 0n);
  assert.equal(
    rows.reduce((sum, { ms }) => sum + Number(ms), 0),
    10 * DAY_MS,
    "each millisecond is charged once",
  );
  for (const { ms, amount, saved } of rows) {
    assert.equal(amount + BigInt(saved ?? 0), (BigInt(Number(ms)) * DOLLAR) / BigInt(HOUR_MS));
  }
  assert.ok(
    72n * DOLLAR - total(rows.slice(0, firstFromCredit)) < 300n,
    "the deposit is used up but for less than a millisecond",
  );
  const record = await show(world, user, id);
  assert.deepEqual([record.is_reserved, record.credit_balance, record.credit_discount], [false, null, null]);
  await pass(world, host, HOUR_MS);
  await settleNow(world);
  const before = (await creditOfUser(world, user)).balance;
  await pass(world, host, HOUR_MS);
  await settleNow(world);
  assert.equal(before - (await creditOfUser(world, user)).balance, DOLLAR);
  // Staying longer earned the savings: an end now costs nothing, and the last nano-dollars come back.
  await end(world, user, id, host);
  await world.runLoop("return-deposits");
  assert.equal(await flow(world, "fees"), 0n);
  assert.equal(await flow(world, "deposit:%"), 0n);
  await world.assertBooks();
});

test("a renter with only a deposit runs on it, may stop and start, and is stopped when it is used up", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await listedHost(world), await world.caller({ dollars: 11 })];
  const id = await rentAndRun(world, user, host);
  const { available } = await creditOfUser(world, user);
  const short = await prepay(world, user, id, 11);
  assert.deepEqual([short.status, short.body.error], [400, "insufficient_credit"]);
  assert.match(short.body.msg, /^Insufficient credit: .* needs \$0\.1\d* more/);
  assert.equal((await prepay(world, user, id, Number(available) / 1e9 - 0.001)).status, 200);
  await pass(world, host, HOUR_MS);
  await settleNow(world);
  await setState(world, user, id, "stopped");
  await host.obey();
  const restarted = await setState(world, user, id, "running");
  assert.equal(restarted.status, 200, restarted.text);
  await host.obey();
  await pass(world, host, 20 * HOUR_MS);
  await settleNow(world);
  assert.deepEqual([(await stored(world, id)).phase, (await stored(world, id)).cause], ["stopping", "balance_empty"]);
  await host.obey();
  assert.equal((await setState(world, user, id, "running")).body.error, "insufficient_credit");
  await world.assertBooks();
});

test("a further payment charges what ran before it at the old terms, and may lower the discount", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await listedHost(world), await world.caller({ dollars: 2000 })];
  const id = await rentAndRun(world, user, host);
  await prepay(world, user, id, 576);
  await pass(world, host, 25 * DAY_MS);
  // 25 days at $0.80, not charged yet.
  const answer = await prepay(world, user, id, 10);
  assert.equal(answer.body.deposit, 106);
  assert.ok(answer.body.discount_rate < 0.04 && answer.body.timescale < 0.2, answer.text);
  for (const hours of [1, 2]) {
    await pass(world, host, HOUR_MS);
    await settleNow(world);
    const { body } = await depositBalance(world, user, id);
    const expected = 106 - hours * (1 - answer.body.discount_rate);
    assert.ok(Math.abs(body.deposit - expected) < 1e-8, JSON.stringify(body));
  }
  await world.assertBooks();
});

test("running time that a lost host reports after the deposit was returned costs nothing", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await listedHost(world), await world.caller({ dollars: 1000 })];
  const id = await rentAndRun(world, user, host);
  await prepay(world, user, id, 576);
  await host.disconnect();
  world.clock.jump(HOUR_MS / 2);
  await destroy(world, user, id);
  await world.runLoop("release-lost-hosts");
  assert.equal((await stored(world, id)).phase, "ended");
  assert.deepEqual(await world.runLoop("return-deposits"), { returned: 0 }, "its last time is not settled yet");
  await settleNow(world);
  assert.deepEqual(await world.runLoop("return-deposits"), { returned: 1 });
  assert.equal((await creditOfUser(world, user)).balance, 1000n * DOLLAR);
  await host.connect();
  const counters = { running_ms: HOUR_MS / 4, received_bytes: 0, sent_bytes: 0 };
  await host.report([{ instance_id: id, generation: 1, state: "stopped", counters }]);
  await settleNow(world);
  assert.equal((await creditOfUser(world, user)).balance, 1000n * DOLLAR);
  assert.deepEqual(await world.runLoop("return-deposits"), { returned: 0 });
  await world.assertBooks();
});

test("an instance that was stopped from the start can be reserved and shows its discount", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await listedHost(world), await world.caller({ dollars: 1000 })];
  const id = await rent(world, user, host, { target_state: "stopped" });
  await prepay(world, user, id, 576);
  const record = await show(world, user, id);
  assert.deepEqual(
    [record.is_reserved, record.credit_balance, record.credit_discount, record.credit_discount_max],
    [true, 576, 0.2, 0.4],
  );
  assert.equal(record.search.discountTotalHour, 0.2);
  assert.ok(Math.abs(record.search.discountedTotalPerHour - 0.8 - record.search.diskHour) < 1e-9);
  const { rows } = await world.env.pool.query("select 1 from ledger_transfers where code = 'usage_gpu'");
  assert.equal(rows.length, 0);
  const report = await world.call({ url: "/api/v0/users/me/invoices/", secret: user.secret });
  assert.deepEqual(
    report.body.invoices.map((item: { service: string; amount: number }) => [item.service, item.amount]),
    [
      ["instance_prepay", -576],
      ["credit", 1000],
    ],
  );
});
