import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import { changeBid, reboot, rentAndRun } from "../../../../../test/support/rentals.ts";

const SECOND_MS = 1000;
const CENT = 10_000_000n;

/** The charges for running as `[cents an hour, seconds]`; neighbours with one price are joined. */
async function chargedFor({ env }: TestApp, id: number): Promise<readonly (readonly [number, number])[]> {
  const { rows } = await env.pool.query<{ unit_price_nanos: bigint; quantity: bigint }>(
    "select unit_price_nanos, quantity from charge_lines where instance_id = $1 and component = 'gpu' order by id",
    [id],
  );
  const parts: [number, number][] = [];
  for (const { unit_price_nanos: price, quantity } of rows) {
    const [cents, seconds] = [Number(price / CENT), Number(quantity) / SECOND_MS];
    const last = parts.at(-1);
    if (last?.[0] === cents) last[1] += seconds;
    else parts.push([cents, seconds]);
  }
  return parts;
}

test("each bid is charged for exactly the time for which it held, although its host reports once a minute", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host, { price: 0.3 });
  world.clock.jump(60 * SECOND_MS);
  await host.obey();
  world.clock.jump(7 * SECOND_MS);
  assert.equal((await changeBid(world, user, id, 0.2)).status, 200);
  world.clock.jump(SECOND_MS);
  assert.equal((await changeBid(world, user, id, 0.4)).status, 200);
  world.clock.jump(52 * SECOND_MS);
  await host.obey();
  await world.runLoop("settle-runs");
  world.clock.jump(3600 * SECOND_MS);
  await host.obey();
  await world.runLoop("settle-runs");
  assert.deepEqual(await chargedFor(world, id), [
    [30, 67],
    [20, 1],
    [40, 3652],
  ]);
});

test("an ended run is charged at the terms at its end, however late its last counters arrive", async (t) => {
  const world = await testApp(t);
  const [host, user] = [await world.host(), await world.caller()];
  const id = await rentAndRun(world, user, host, { price: 0.3 });
  world.clock.jump(30 * SECOND_MS);
  await changeBid(world, user, id, 0.2);
  world.clock.jump(90 * SECOND_MS);
  await reboot(world, user, id);
  await host.synced();
  await changeBid(world, user, id, 0.4);
  const counters = { running_ms: 120 * SECOND_MS, received_bytes: 0, sent_bytes: 0 };
  await host.report([
    { instance_id: id, generation: 1, state: "stopped", counters },
    { instance_id: id, generation: 2, state: "running" },
  ]);
  world.clock.jump(3600 * SECOND_MS);
  await world.runLoop("settle-runs");
  assert.deepEqual(await chargedFor(world, id), [
    [30, 30],
    [20, 90],
  ]);
});
