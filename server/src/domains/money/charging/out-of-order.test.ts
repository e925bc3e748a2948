// Settlements at unexpected moments: with a clock that is behind, during a count, and after the end.
import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import { linesOf, settleNow } from "../../../../../test/support/money/charges.ts";
import type { FakeHost } from "../../../../../test/support/hosts/fake-host.ts";
import { changeBid, rentAndRun, setState } from "../../../../../test/support/rentals.ts";

const SECOND = 1000;

async function pass(world: TestApp, host: FakeHost, seconds: number): Promise<void> {
  world.clock.jump(seconds * SECOND);
  await host.count();
}

/** The charges of an instance for one component, in milliseconds of each state. */
async function charged(world: TestApp, id: number, component: "gpu" | "disk") {
  const lines = (await linesOf(world, id)).filter((line) => line.component === component);
  return lines.map(({ state, quantity }) => [state, quantity]);
}

async function settleAt({ env }: TestApp, id: number): Promise<Date | null> {
  const { rows } = await env.pool.query<{ settle_at: Date | null }>(
    "select settle_at from instance_tabs where instance_id = $1",
    [id],
  );
  return rows[0]!.settle_at;
}

test("a settlement with a clock that is behind charges nothing twice", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  await pass(world, host, 600);
  await settleNow(world);
  world.clock.skewMs = -30 * SECOND;
  await settleNow(world);
  await changeBid(world, user, id, 0.5);
  await setState(world, user, id, "stopped");
  world.clock.skewMs = 0;
  await pass(world, host, 600);
  await settleNow(world);
  assert.deepEqual(await charged(world, id, "disk"), [
    ["running", 600_000n],
    ["stopped", 600_000n],
  ]);
  await world.assertBooks();
});

/** Marks an instance as settled to its end, as if no usage had been left. */
async function end({ env, clock }: TestApp, id: number): Promise<void> {
  await env.pool.query(`update leases set released_at = $2 where instance_id = $1`, [id, clock.now()]);
  await env.pool.query(
    `with tab as (update instance_tabs set settle_at = null where instance_id = $1)
     update instances set phase = 'ended', desired = 'destroyed', ended_at = $2 where id = $1`,
    [id, clock.now()],
  );
}

test("late counts of an ended instance are charged, in any state that its host reports", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  await pass(world, host, 36);
  await settleNow(world);
  await end(world, id);
  world.clock.jump(12 * SECOND);
  const counters = { running_ms: 48_000, received_bytes: 0, sent_bytes: 0 };
  await host.report([{ instance_id: id, generation: 1, state: "running", counters, status_msg: "back" }]);
  await world.runLoop("settle-runs");
  assert.deepEqual(await charged(world, id, "gpu"), [
    ["running", 36_000n],
    ["running", 12_000n],
  ]);
  assert.equal(await settleAt(world, id), null);
});

test("an instance that is over stays due as long as one of its runs is being counted", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  await pass(world, host, 36);
  await end(world, id);
  await world.env.pool.query("update instance_tabs set settle_at = $2 where instance_id = $1", [id, world.clock.now()]);
  const counting = await world.env.pool.connect();
  await counting.query("begin");
  await counting.query("select from instance_runs where instance_id = $1 for update", [id]);
  await world.runLoop("settle-runs");
  assert.deepEqual(await charged(world, id, "gpu"), []);
  await counting.query("commit");
  counting.release();
  world.clock.jump(10 * SECOND);
  await world.runLoop("settle-runs");
  assert.deepEqual(await charged(world, id, "gpu"), [["running", 36_000n]]);
  assert.equal(await settleAt(world, id), null);
});
