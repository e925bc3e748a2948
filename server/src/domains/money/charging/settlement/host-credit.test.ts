import assert from "node:assert/strict";
import { test } from "node:test";
import { inTransaction } from "../../../../../../test/support/fixtures.ts";
import { transferOf } from "../../../../../../test/support/money/ledger.ts";
import { creditOfUser, testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { settleNow } from "../../../../../../test/support/money/charges.ts";
import { listedHost, pass, prepay } from "../../../../../../test/support/money/contracts.ts";
import { destroy, rentAndRun, setState, stored } from "../../../../../../test/support/rentals.ts";
import type { UserId } from "../../../../base/ids.ts";
import { nanos } from "../../../../base/money.ts";
import { creditOf, earningsOf, postTransfers } from "../../ledger/index.ts";

const DOLLAR = 1_000_000_000n;
const MINUTE = 60_000;
const LEASE_MS = 3_600_000;

/** `[amount, debit, credit, key]` of each transfer that returned money. */
async function credits({ env }: TestApp) {
  const { rows } = await env.pool.query<{ amount: bigint; debit: string; credit: string; key: string; reason: string }>(
    `select t.amount_nanos as amount, d.kind as debit, c.kind as credit, t.key, t.cause ->> 'reason' as reason
     from ledger_transfers t join ledger_accounts d on d.id = debit_account_id
     join ledger_accounts c on c.id = credit_account_id where t.code = 'host_credit' order by t.id`,
  );
  return rows.map((row) => [row.amount, row.debit, row.credit, row.key, row.reason] as const);
}

/** A rental at $0.60 an hour: a cent a minute. */
async function aRental(world: TestApp, dollars = 100) {
  const [host, user] = [await listedHost(world, { dollarsPerHour: 0.6 }), await world.caller({ dollars })];
  return { host, user, id: await rentAndRun(world, user, host) };
}

test("a renter gets the last ten minutes of a run that its host stopped back once, with a notification", async (t) => {
  const world = await testApp(t);
  const { host, user, id } = await aRental(world);
  await pass(world, host, 30 * MINUTE);
  await settleNow(world);
  await pass(world, host, 4 * MINUTE);
  const counters = { running_ms: 34 * MINUTE, received_bytes: 0, sent_bytes: 0 };
  await host.report([{ instance_id: id, generation: 1, state: "stopped", counters }]);
  await host.obey();
  await Promise.all([1, 2, 3].map(() => world.runLoop("settle-runs")));
  await settleNow(world);
  assert.deepEqual(await credits(world), [[DOLLAR / 10n, "earnings", "credit", `host_credit:${id}:1`, "host_stopped"]]);
  assert.equal((await creditOfUser(world, user)).balance, 100n * DOLLAR - (24n * DOLLAR) / 100n);
  const { rows } = await world.env.pool.query(
    "select user_id, kind, message from notices where kind = 'client:instance_credited'",
  );
  assert.equal(rows.length, 1);
  assert.deepEqual([rows[0]!["user_id"], /\$0\.1,/.test(rows[0]!["message"])], [user.id, true]);
  await world.assertBooks();
});

test("a shorter run is returned whole, and never more than its payments", async (t) => {
  const world = await testApp(t);
  const { host, user, id } = await aRental(world);
  await pass(world, host, 3 * MINUTE);
  const counters = { running_ms: 3 * MINUTE, received_bytes: 0, sent_bytes: 0 };
  await host.report([{ instance_id: id, generation: 1, state: "absent", counters }]);
  await host.obey();
  await settleNow(world);
  assert.equal((await creditOfUser(world, user)).balance, 100n * DOLLAR);
  assert.deepEqual(
    (await credits(world)).map(([amount]) => amount),
    [(3n * DOLLAR) / 100n],
  );
  await world.assertBooks();
});

test("a host's failure does not return money that a returned payment took from the host already", async (t) => {
  const world = await testApp(t);
  const { host, user, id } = await aRental(world);
  await pass(world, host, 30 * MINUTE);
  await settleNow(world);
  const { rows } = await world.env.pool.query<{ id: UserId; earned: bigint }>(
    "select user_id as id, balance_nanos as earned from ledger_accounts where kind = 'earnings'",
  );
  const [owner] = rows;
  assert.ok(owner);
  const takenBack = { debit: earningsOf(owner.id), credit: creditOf(user.id), code: "taken_back" } as const;
  const amount = nanos(owner.earned - DOLLAR / 50n);
  await inTransaction(world.env.database, (tx) => postTransfers(tx, [transferOf({ ...takenBack, amount })]));
  const counters = { running_ms: 30 * MINUTE, received_bytes: 0, sent_bytes: 0 };
  await host.report([{ instance_id: id, generation: 1, state: "absent", counters }]);
  await host.obey();
  await settleNow(world);
  assert.deepEqual(
    (await credits(world)).map(([given]) => given),
    [DOLLAR / 50n],
    "two cents of thirty were still there",
  );
  await world.assertBooks();
});

test("credit for a host's failure becomes the host's debt, not the house's loss", async (t) => {
  const world = await testApp(t);
  const { host, id } = await aRental(world);
  await pass(world, host, 30 * MINUTE);
  await settleNow(world);
  // All earnings but four cents were paid out.
  await world.env.pool.query(
    `with host as (
       update ledger_accounts set balance_nanos = 40000000 where kind = 'earnings' returning id, 260000000 as paid
     ), house as (
       insert into ledger_accounts (user_id, kind, balance_nanos) values (null, 'payouts', 260000000) returning id
     )
     insert into ledger_transfers (key, debit_account_id, credit_account_id, amount_nanos, code, cause, description, created_at)
     select 'payout:test', host.id, house.id, paid, 'payout', '{}', 'paid out', $1 from host, house`,
    [world.clock.now()],
  );
  await host.report([
    {
      instance_id: id,
      generation: 1,
      state: "stopped",
      counters: { running_ms: 30 * MINUTE, received_bytes: 0, sent_bytes: 0 },
    },
  ]);
  await host.obey();
  await settleNow(world);
  assert.deepEqual(await credits(world), [[100_000_000n, "earnings", "credit", `host_credit:${id}:1`, "host_stopped"]]);
  const { rows } = await world.env.pool.query(
    "select kind, balance_nanos as balance from ledger_accounts where kind in ('earnings', 'losses')",
  );
  assert.deepEqual(rows, [{ kind: "earnings", balance: -60_000_000n }]);
  await world.assertBooks();
});

test("a run on a lost machine is returned although it was being stopped", async (t) => {
  const world = await testApp(t);
  const { host, user, id } = await aRental(world);
  await pass(world, host, 30 * MINUTE);
  await host.disconnect();
  world.clock.jump(MINUTE);
  await setState(world, user, id, "stopped");
  world.clock.jump(LEASE_MS);
  await world.runLoop("release-lost-hosts");
  assert.equal((await stored(world, id)).phase, "stopped");
  await settleNow(world);
  assert.deepEqual(
    (await credits(world)).map(([amount, , , , reason]) => [amount, reason]),
    [[DOLLAR / 10n, "host_lost"]],
  );
});

test("payments of a deposit go back to it while it is open", async (t) => {
  const world = await testApp(t);
  const { host, user, id } = await aRental(world, 1000);
  // A month of $432 at a discount of 20 %.
  assert.equal((await prepay(world, user, id, 345.6)).status, 200);
  await pass(world, host, 30 * MINUTE);
  const counters = { running_ms: 30 * MINUTE, received_bytes: 0, sent_bytes: 0 };
  await host.report([{ instance_id: id, generation: 1, state: "stopped", counters }]);
  await host.obey();
  await settleNow(world);
  assert.deepEqual(await credits(world), [
    [80_000_000n, "earnings", `deposit:${id}`, `host_credit:${id}:1:deposit`, "host_stopped"],
  ]);
  await destroy(world, user, id);
  await host.obey();
  await settleNow(world);
  assert.deepEqual(await world.runLoop("return-deposits"), { returned: 1 });
  await world.assertBooks();
});

test("a renter gets nothing back after a stop of their own, or when the program ends by itself", async (t) => {
  const world = await testApp(t);
  const { host, user, id } = await aRental(world);
  await pass(world, host, 30 * MINUTE);
  const counters = { running_ms: 30 * MINUTE, received_bytes: 0, sent_bytes: 0 };
  await host.report([{ instance_id: id, generation: 1, state: "exited", counters }]);
  await setState(world, user, id, "stopped");
  await host.obey();
  await destroy(world, user, id);
  await host.obey();
  await settleNow(world);
  assert.deepEqual(await credits(world), []);
  assert.equal((await creditOfUser(world, user)).balance, 100n * DOLLAR - (30n * DOLLAR) / 100n);
});
