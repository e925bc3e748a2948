import assert from "node:assert/strict";
import { test } from "node:test";
import { creditOfUser, testApp, type TestApp } from "../../../../test/support/app.ts";
import { changeBid, rent, rentAndRun, setState, show, stored, reboot } from "../../../../test/support/rentals.ts";
import { settleRuns } from "./service.ts";

const SECOND = 1000;

/** Everything charged so far: `[seconds, nano-dollars]` of each charge, in order. */
async function charges({ env }: TestApp): Promise<readonly (readonly [string, bigint])[]> {
  const { rows } = await env.pool.query<{ quantity: string; amount: bigint }>(
    "select cause ->> 'quantity' as quantity, amount_nanos as amount from ledger_transfers where code = 'usage_gpu' order by id",
  );
  return rows.map(({ quantity, amount }) => [quantity, amount] as const);
}

test("each counted stretch is charged once, at the agreed price, and nothing before the first running report", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rent(world, user, host);
  world.clock.jump(600 * SECOND);
  assert.deepEqual(await world.runLoop("settle-runs"), { charged: 0, skipped: 0, stopped: 0 });
  await host.obey();
  assert.deepEqual(await world.runLoop("settle-runs"), { charged: 0, skipped: 0, stopped: 0 });
  world.clock.jump(36 * SECOND);
  await host.obey();
  await world.runLoop("settle-runs");
  await world.runLoop("settle-runs");
  await host.obey();
  await world.runLoop("settle-runs");
  // $0.30 an hour for 36 seconds.
  assert.deepEqual(await charges(world), [["36", 3_000_000n]]);
  world.clock.jump(12 * SECOND);
  await host.obey();
  await reboot(world, user, id);
  await host.obey();
  world.clock.jump(6 * SECOND);
  await host.obey();
  await world.runLoop("settle-runs");
  assert.deepEqual(
    (await charges(world)).toSorted((a, b) => (a[0] < b[0] ? -1 : 1)),
    [
      ["12", 1_000_000n],
      ["36", 3_000_000n],
      ["6", 500_000n],
    ],
  );
  await setState(world, user, id, "stopped");
  await host.obey();
  world.clock.jump(3_600 * SECOND);
  await host.obey();
  await world.runLoop("settle-runs");
  assert.equal((await charges(world)).length, 3, "a stopped instance costs nothing more");
  await world.assertBooks();
});

test("two processes that settle at once charge once", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host({ gpus: 4 }), await world.caller()];
  for (let count = 0; count < 4; count += 1) await rentAndRun(world, user, host);
  world.clock.jump(10 * SECOND);
  await host.obey();
  const { database } = world.env;
  const outcomes = await Promise.all(Array.from({ length: 6 }, () => settleRuns(database, world.clock)));
  assert.equal(
    outcomes.reduce((sum, outcome) => sum + outcome.charged, 0),
    4,
  );
  assert.equal((await charges(world)).length, 4);
  await world.assertBooks();
});

test("an empty balance stops the instance with its data kept, and what was set aside pays what it can", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller({ dollars: 0.06 })];
  const id = await rentAndRun(world, user, host);
  world.clock.jump(1200 * SECOND);
  await host.obey();
  assert.deepEqual(await world.runLoop("settle-runs"), { charged: 0, skipped: 0, stopped: 1 });
  assert.deepEqual(await creditOfUser(world, user), { balance: 0n, held: 0n, available: 0n });
  assert.deepEqual([(await stored(world, id)).phase, (await stored(world, id)).cause], ["stopping", "balance_empty"]);
  await host.obey();
  assert.equal((await show(world, user, id)).actual_status, "stopped");
  const refused = await setState(world, user, id, "running");
  assert.deepEqual([refused.status, refused.body.error], [400, "insufficient_credit"]);
  await world.assertBooks();
});

test("after a change of the bid nothing that ran before is charged at a higher price", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host, { price: 0.36 });
  world.clock.jump(10 * SECOND);
  await host.obey();
  await changeBid(world, user, id, 3.6);
  await world.runLoop("settle-runs");
  world.clock.jump(5 * SECOND);
  await host.obey();
  await world.runLoop("settle-runs");
  world.clock.jump(5 * SECOND);
  await host.obey();
  await world.runLoop("settle-runs");
  assert.deepEqual(await charges(world), [
    ["10", 1_000_000n],
    ["5", 500_000n],
    ["5", 5_000_000n],
  ]);
  await changeBid(world, user, id, 0.36);
  world.clock.jump(5 * SECOND);
  await host.obey();
  await world.runLoop("settle-runs");
  assert.deepEqual((await charges(world)).at(-1), ["5", 500_000n]);
  await world.assertBooks();
});

test("what runs on after the end of the rental, until its host has stopped it, costs nothing", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rent(world, user, host);
  const endAt = new Date(world.clock.now().getTime() + 3_600 * SECOND);
  await world.env.pool.query("update instances set end_at = $2 where id = $1", [id, endAt]);
  await host.obey();
  for (const seconds of [3_590, 20, 20]) {
    world.clock.jump(seconds * SECOND);
    await host.obey();
  }
  await world.runLoop("end-contracts");
  world.clock.jump(10 * SECOND);
  await host.obey();
  assert.equal((await stored(world, id)).phase, "stopped");
  await world.runLoop("settle-runs");
  assert.deepEqual(await charges(world), [["3600", 300_000_000n]]);
  await world.assertBooks();
});
