import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp } from "../../../../../../test/support/app.ts";
import { listedHost } from "../../../../../../test/support/money/contracts.ts";
import { destroy, rentAndRun } from "../../../../../../test/support/rentals.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

test("the calendar shows each GPU's rentals of 90 days without names, and the agreed end of those that go on", async (t) => {
  const world = await testApp(t);
  const [owner, renter] = [await world.caller({ dollars: 0 }), await world.caller()];
  const host = await listedHost(world, { dollarsPerHour: 1 }, { gpus: 2, owner });
  const first = await rentAndRun(world, renter, host, { label: "secret plans" });
  const begun = world.clock.now().getTime();
  world.clock.jump(HOUR_MS);
  await destroy(world, renter, first);
  await host.obey();
  const ended = world.clock.now().getTime();
  await rentAndRun(world, renter, host, { label: "secret plans" });
  const url = `/api/v0/machines/${host.machineId}/calendar/`;
  const { status, body, text } = await world.call({ url, secret: owner.secret });
  assert.equal(status, 200, text);
  const rented = body.gpus.flatMap(({ intervals }: { intervals: readonly unknown[] }) => intervals);
  assert.equal(body.gpus.length, 2);
  assert.equal(rented.length, 2);
  const past = rented.find(({ until }: { until: number | null }) => until !== null);
  assert.deepEqual(past, { from: begun / 1000, until: ended / 1000, kind: "on_demand", ends_at: null });
  const open = rented.find(({ until }: { until: number | null }) => until === null);
  assert.ok(open.ends_at > ended / 1000);
  assert.ok(!text.includes("secret") && !text.includes(renter.email) && !/user|email|label/.test(text));
  const stranger = await world.call({ url, secret: renter.secret });
  assert.deepEqual([stranger.status, stranger.body.error], [404, "no_such_machine"]);
  await world.env.pool.query("update leases set granted_at = $1, released_at = $2 where released_at is not null", [
    new Date(ended - 100 * DAY_MS),
    new Date(ended - 91 * DAY_MS),
  ]);
  const later = await world.call({ url, secret: owner.secret });
  assert.equal(later.body.gpus.flatMap(({ intervals }: { intervals: readonly unknown[] }) => intervals).length, 1);
});

test("a price is compared with what other hosts ask and get, unless these are fewer than three", async (t) => {
  const world = await testApp(t);
  const [owner, renter] = [await world.caller({ dollars: 0 }), await world.caller()];
  const own = await listedHost(world, { dollarsPerHour: 9 }, { gpus: 1, owner });
  const hint = async () => {
    const url = `/api/v0/machines/${own.machineId}/price-hint/`;
    const { status, body, text } = await world.call({ url, secret: owner.secret });
    assert.equal(status, 200, text);
    return body;
  };
  const first = await listedHost(world, { dollarsPerHour: 1 }, { gpus: 1 });
  await listedHost(world, { dollarsPerHour: 2 }, { gpus: 1 });
  const thin = await hint();
  assert.deepEqual(thin.asked, { gpu_count: 2, host_count: 2, withheld: true });
  await listedHost(world, { dollarsPerHour: 3 }, { gpus: 1 });
  const { asked, rented, price_gpu: price } = await hint();
  assert.deepEqual([price, asked.p10, asked.p50, asked.p90, asked.gpu_count], [9, 1, 2, 3, 3]);
  assert.deepEqual(rented, { gpu_count: 0, host_count: 0, withheld: true });
  await rentAndRun(world, renter, first);
  assert.equal((await hint()).rented.gpu_count, 1);
});
