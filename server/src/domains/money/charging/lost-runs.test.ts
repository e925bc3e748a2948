import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import { settleNow } from "../../../../../test/support/money/charges.ts";
import { listedHost, pass } from "../../../../../test/support/money/contracts.ts";
import { rentAndRun, stored } from "../../../../../test/support/rentals.ts";

const MINUTE_MS = 60_000;
const NONE = { received_bytes: 0, sent_bytes: 0 };

/** A rental at $0.60 an hour: a cent a minute. It has run for 30 minutes, as its host counted. */
async function aRental(world: TestApp) {
  const [host, user] = [await listedHost(world, { dollarsPerHour: 0.6 }), await world.caller()];
  const id = await rentAndRun(world, user, host);
  await pass(world, host, 30 * MINUTE_MS);
  return { host, user, id };
}

async function assertMadeGood(world: TestApp, userId: number, id: number): Promise<void> {
  await settleNow(world);
  const faults = await world.env.pool.query(
    "select generation, reason, credited_nanos from host_faults where instance_id = $1",
    [id],
  );
  assert.deepEqual(faults.rows, [{ generation: 1, reason: "host_stopped", credited_nanos: 100_000_000n }]);
  const notices = await world.env.pool.query<{ kind: string }>(
    "select kind from notices where user_id = $1 and kind in ('client:instance_stopped', 'client:instance_credited') order by id",
    [userId],
  );
  assert.deepEqual(
    notices.rows.map(({ kind }) => kind),
    ["client:instance_stopped", "client:instance_credited"],
  );
  await world.assertBooks();
}

for (const state of ["pulling", "starting", "created"] as const) {
  test(`a host whose agent creates the container again (${state}) has lost the run: its renter is notified and credited`, async (t) => {
    const world = await testApp(t);
    const { host, user, id } = await aRental(world);
    await host.disconnect();
    await host.connect();
    const counters = { running_ms: 30 * MINUTE_MS, ...NONE };
    await host.report([{ instance_id: id, generation: 1, state, counters }]);
    assert.deepEqual([(await stored(world, id)).phase, (await stored(world, id)).generation], ["starting", 2]);
    await host.obey();
    assert.equal((await stored(world, id)).phase, "running");
    await assertMadeGood(world, user.id, id);
  });
}

test("counters that stand still, or arrive twice or late, do not count as a loss", async (t) => {
  const world = await testApp(t);
  const { host, id } = await aRental(world);
  for (const runningMs of [30 * MINUTE_MS, 29 * MINUTE_MS, 30 * MINUTE_MS - 500]) {
    world.clock.jump(MINUTE_MS);
    const counters = { running_ms: runningMs, ...NONE };
    await host.report([{ instance_id: id, generation: 1, state: "running", counters, status_msg: String(runningMs) }]);
  }
  assert.equal((await stored(world, id)).generation, 1);
});
