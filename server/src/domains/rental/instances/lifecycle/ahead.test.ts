// Hosts that know newer runs than a database that was set back to an earlier state.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { testApp } from "../../../../../../test/support/app.ts";
import { destroy, rentAndRun, setState, show, stored } from "../../../../../../test/support/rentals.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import { expectNewerRuns } from "./restore-store.ts";

const FRESH_MS = 14 * 24 * 3_600_000;

async function aRestoredWorld(t: TestContext) {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host);
  const restore = () =>
    withTransaction(world.env.database, world.clock, (tx) =>
      expectNewerRuns(tx, new Date(tx.now.getTime() + FRESH_MS)),
    );
  const standing = async () => {
    const { phase, generation } = await stored(world, id);
    return [phase, generation];
  };
  return { world, host, user, id, restore, standing };
}

test("a newer run of a host counts and obeys after a restore, and nothing of it is charged twice", async (t) => {
  const { world, host, user, id, restore, standing } = await aRestoredWorld(t);
  await restore();
  await host.report([{ instance_id: id, generation: 3, state: "running" }]);
  assert.deepEqual(await standing(), ["running", 3]);
  await host.synced();
  assert.deepEqual([host.order(id)?.run, host.order(id)?.generation], ["running", 3], "its process goes on");
  world.clock.advance(5_000);
  await host.report([{ instance_id: id, generation: 3, state: "running" }]);
  assert.equal((await show(world, user, id)).actual_status, "running");
  assert.equal((await setState(world, user, id, "stopped")).status, 200);
  await host.synced();
  assert.deepEqual([host.order(id)?.run, host.order(id)?.generation], ["stopped", 3]);
  await host.report([{ instance_id: id, generation: 3, state: "stopped" }]);
  assert.deepEqual([(await stored(world, id)).phase, (await stored(world, id)).leases], ["stopped", 0]);
  await world.runLoop("settle-runs");
  await world.assertBooks();
  assert.deepEqual(world.complaints, []);
});

test("an instance that is to be stopped or destroyed is so on a host that is ahead, whose devices come free", async (t) => {
  const { world, host, user, id, restore, standing } = await aRestoredWorld(t);
  await setState(world, user, id, "stopped");
  await restore();
  await host.report([{ instance_id: id, generation: 2, state: "running" }]);
  assert.deepEqual(await standing(), ["stopping", 2]);
  await host.synced();
  assert.deepEqual([host.order(id)?.run, host.order(id)?.generation], ["stopped", 2]);
  await host.report([{ instance_id: id, generation: 2, state: "stopped" }]);
  assert.deepEqual(await standing(), ["stopped", 2]);
  await host.report([{ instance_id: id, generation: 5, state: "running" }]);
  assert.deepEqual(await standing(), ["stopped", 5]);
  await destroy(world, user, id);
  await host.report([{ instance_id: id, generation: 7, state: "running" }]);
  await host.synced();
  assert.deepEqual([host.order(id)?.run, host.order(id)?.generation], ["absent", 7]);
  await host.report([{ instance_id: id, generation: 7, state: "absent" }]);
  assert.deepEqual([(await stored(world, id)).phase, (await stored(world, id)).leases], ["ended", 0]);
  await world.assertBooks();
  assert.deepEqual(world.complaints, []);
});

test("a newer run is not believed without a restore, long after one, or beyond all counts", async (t) => {
  const { world, host, id, restore, standing } = await aRestoredWorld(t);
  const report = (generation: number) => host.report([{ instance_id: id, generation, state: "running" }]);
  await report(2);
  assert.deepEqual(await standing(), ["running", 1]);
  await restore();
  await report(1_000_001);
  assert.deepEqual(await standing(), ["running", 1]);
  await world.env.database.pool.query("update instances set newer_runs_until_at = $1", [world.clock.now()]);
  await report(2);
  assert.deepEqual(await standing(), ["running", 1]);
});
