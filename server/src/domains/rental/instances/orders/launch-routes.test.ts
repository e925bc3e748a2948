import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { show } from "../../../../../../test/support/rentals.ts";
import { setPrices } from "../../../../../../test/support/standing-requests.ts";

type Body = Readonly<Record<string, unknown>>;

function launch(world: TestApp, { secret }: TestCaller, body: Body, headers: Record<string, string> = {}) {
  const usual = { image: "busybox", disk: 10, num_gpus: 1 };
  return world.call({ method: "PUT", url: "/api/v0/launch_instance/", secret, headers, body: { ...usual, ...body } });
}

function bulk(world: TestApp, { secret }: TestCaller, body: Body, headers: Record<string, string> = {}) {
  return world.call({
    method: "POST",
    url: "/api/v0/asks/bulk/",
    secret,
    headers,
    body: { image: "busybox", disk: 10, ...body },
  });
}

test("a launch rents the first offer in the order of its search, and the next one when that is gone", async (t) => {
  const world = await testApp(t);
  const renter = await world.caller();
  const [cheap, dear] = [await world.host({ gpus: 1 }), await world.host({ gpus: 2 })];
  await setPrices(world, cheap, { price: 0.2 });
  await setPrices(world, dear, { price: 0.3 });
  const q = { order: [["dph_total", "asc"]], rentable: { eq: true } };
  const first = await launch(world, renter, { q, gpu_name: "RTX_4090" });
  assert.equal(first.status, 200, first.text);
  assert.equal((await show(world, renter, Number(first.body.new_contract))).machine_id, cheap.machineId);

  // Taken by an update that notifies nobody, so the table of offers still shows it.
  await world.settled();
  await world.env.pool.query("update offers set retired_at = now() where machine_id = $1 and device_count = 1", [
    dear.machineId,
  ]);
  const spare = await world.host({ gpus: 1 });
  await setPrices(world, spare, { price: 0.4 });
  const second = await launch(world, renter, { q });
  assert.equal(second.status, 200, second.text);
  assert.equal((await show(world, renter, Number(second.body.new_contract))).machine_id, spare.machineId);
});

test("a launch that finds nothing, or is malformed, is refused with error and message", async (t) => {
  const world = await testApp(t);
  const renter = await world.caller();
  await world.host({ gpus: 1, facts: { geolocation: "Oslo, NO" } });
  for (const [body, status, error] of [
    [{ num_gpus: 8 }, 404, "no_such_ask"],
    [{ q: "gpu_name=H200" }, 404, "no_such_ask"],
    [{ region: "US,CA" }, 404, "no_such_ask"],
    [{ region: "North_America" }, 400, "invalid_args"],
    [{ q: { num_gpus: { like: 1 } } }, 400, "invalid_args"],
    [{ q: "gpu_nmae=H200" }, 400, "invalid_args"],
    [{ image: undefined }, 400, "invalid_args"],
    [{ disk: 100_000 }, 400, "invalid_args"],
  ] as const) {
    const answer = await launch(world, renter, body);
    const said = [answer.status, answer.body.success, answer.body.error, typeof answer.body.message];
    assert.deepEqual(said, [status, false, error, "string"], answer.text);
  }
  assert.equal((await launch(world, renter, { region: "no" })).status, 200);
  const poor = await world.caller({ dollars: 0 });
  await world.host({ gpus: 1 });
  assert.equal((await launch(world, poor, {})).body.error, "insufficient_credit");
});

test("a launch never costs more than its search found, and a repeated one rents once", async (t) => {
  const world = await testApp(t);
  const renter = await world.caller();
  const host = await world.host({ gpus: 1 });
  await setPrices(world, host, { price: 0.1 + 0.2 });
  const raise = "update machines set price_device_nanos_per_hour = price_device_nanos_per_hour * 10";
  await world.env.pool.query(raise);
  const refused = await launch(world, renter, {}, { "idempotency-key": "one" });
  assert.deepEqual([refused.status, refused.body.error], [410, "no_such_ask"]);
  await setPrices(world, host, { price: 0.1 + 0.2 });
  const [once, twice] = [
    await launch(world, renter, {}, { "idempotency-key": "one" }),
    await launch(world, renter, {}, { "idempotency-key": "one" }),
  ];
  assert.equal(once.status, 200, once.text);
  assert.deepEqual(twice.body, once.body);
});

test("a bid by launch is searched among prices of bids", async (t) => {
  const world = await testApp(t);
  const renter = await world.caller();
  const host = await world.host({ gpus: 1 });
  await setPrices(world, host, { price: 2, minBid: 0.1 });
  const answer = await launch(world, renter, { price: 0.2, q: { dph_total: { lte: 0.5 }, type: "on-demand" } });
  assert.equal(answer.status, 200, answer.text);
  assert.equal((await show(world, renter, Number(answer.body.new_contract))).is_bid, true);
});

test("many offers are rented in one request, each with its own result, and a repeated request rents once", async (t) => {
  const world = await testApp(t);
  const renter = await world.caller();
  const hosts = [await world.host({ gpus: 2 }), await world.host({ gpus: 1 })];
  const ids: number[] = [];
  for (const host of hosts) ids.push(Number((await world.offersOf(host)).get(1)));
  const asked = [...ids, 2_000_000_000, ids[0]];
  const headers = { "idempotency-key": "many" };
  const answer = await bulk(world, renter, { ids: asked }, headers);
  assert.equal(answer.status, 200, answer.text);
  const results = answer.body.results as readonly Body[];
  assert.deepEqual(
    results.map(({ success, ask_id: ask, error }) => [success, ask, error]),
    [
      [true, ids[0], undefined],
      [true, ids[1], undefined],
      [false, 2_000_000_000, "invalid_args"],
      [false, ids[0], "no_such_ask"],
    ],
  );
  const made = results.flatMap(({ new_contract: id }) => (id === undefined ? [] : [id]));
  const { new_contracts: contracts, created, failed, elapsed } = answer.body;
  assert.deepEqual([contracts, created, failed], [made, made, [2_000_000_000, ids[0]]]);
  assert.ok(Number(elapsed) >= 0);
  assert.deepEqual(new Set(results.map(({ state }) => state)), new Set(["running", undefined]));
  assert.deepEqual((await bulk(world, renter, { ids: asked }, headers)).body, answer.body);
  const { rows } = await world.env.pool.query("select count(*)::integer as count from instances");
  assert.deepEqual(rows, [{ count: 2 }]);
  await world.assertBooks();
});

test("a bulk request that rents nothing is refused for the reason of its first offer, and may name 64 offers at most", async (t) => {
  const world = await testApp(t);
  const renter = await world.caller();
  const none = await bulk(world, renter, { ids: [1_999_999_999, 2_000_000_000] });
  const said = [none.status, none.body.error, (none.body.results as readonly unknown[]).length];
  assert.deepEqual(said, [400, "invalid_args", 2]);
  await world.host({ gpus: 1 });
  const [host] = [await world.host({ gpus: 1 })];
  const id = Number((await world.offersOf(host)).get(1));
  const stopped = await bulk(world, renter, { ids: [id], target_state: "stopped" });
  assert.equal((stopped.body.results as readonly Body[])[0]?.["state"], "stopped");
  for (const ids of [[], Array.from({ length: 65 }, (_, index) => index + 1), "1", [1.5], undefined]) {
    const answer = await bulk(world, renter, { ids });
    assert.deepEqual([answer.status, answer.body.error], [400, "invalid_args"]);
  }
});
