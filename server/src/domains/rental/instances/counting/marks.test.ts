import assert from "node:assert/strict";
import { test } from "node:test";
import type { TestApp } from "../../../../../../test/support/app.ts";
import { changeBid, setState } from "../../../../../../test/support/rentals.ts";
import { running } from "../../../../../../test/support/hosts/counted-runs.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const LEASE_MS = 10 * MINUTE_MS;

/** The marks of past terms: the price in cents an hour, and the running time in milliseconds up to which it holds. */
async function marksOf({ env }: TestApp, id: number): Promise<readonly (readonly [number, number])[]> {
  const { rows } = await env.pool.query(
    "select price_nanos_per_hour / 10000000 as cents, until_running_ms from past_terms where instance_id = $1 order by id",
    [id],
  );
  return rows.map((row) => [Number(row.cents), Number(row.until_running_ms)]);
}

test("a change of the bid marks the run's present counters, not those of the last report", async (t) => {
  const { world, host, user, id, counted } = await running(t, { price: 0.3 });
  world.clock.jump(MINUTE_MS);
  await host.obey();
  world.clock.jump(7 * SECOND_MS);
  await changeBid(world, user, id, 0.2);
  world.clock.jump(SECOND_MS);
  await changeBid(world, user, id, 0.3);
  assert.equal(await counted(), MINUTE_MS);
  assert.deepEqual(await marksOf(world, id), [
    [30, 67 * SECOND_MS],
    [20, 68 * SECOND_MS],
  ]);
  await world.assertBooks();
});

test("a change of the bid marks what a run has counted by then, even if its last report was late on its way", async (t) => {
  const { world, user, id, tell } = await running(t, { price: 0.4 });
  world.clock.jump(MINUTE_MS);
  await tell(MINUTE_MS);
  world.clock.jump(70 * SECOND_MS);
  // Taken 25 seconds before it arrived.
  await tell(MINUTE_MS + 45 * SECOND_MS);
  world.clock.jump(10 * SECOND_MS);
  await changeBid(world, user, id, 0.5);
  assert.deepEqual(await marksOf(world, id), [[40, 2 * MINUTE_MS + 20 * SECOND_MS]]);
});

test("the runs of a disconnected host are taken to go on for a heartbeat lease, and to have stopped after it", async (t) => {
  const { world, host, user, id } = await running(t, { price: 0.3 });
  world.clock.jump(MINUTE_MS);
  await host.obey();
  await host.disconnect();
  world.clock.jump(5 * MINUTE_MS);
  await changeBid(world, user, id, 0.29);
  world.clock.jump(LEASE_MS);
  await changeBid(world, user, id, 0.28);
  assert.deepEqual(await marksOf(world, id), [
    [30, 6 * MINUTE_MS],
    [29, 6 * MINUTE_MS],
  ]);
});

test("a run that has stopped is marked at its last count", async (t) => {
  const { world, host, user, id } = await running(t, { price: 0.3 });
  world.clock.jump(MINUTE_MS);
  await setState(world, user, id, "stopped");
  await host.obey();
  world.clock.jump(5 * MINUTE_MS);
  await changeBid(world, user, id, 0.2);
  assert.deepEqual(await marksOf(world, id), [[30, MINUTE_MS]]);
});
