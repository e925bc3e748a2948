import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { destroy, rent, rentAndRun } from "../../../../../../test/support/rentals.ts";
import { setPrices } from "../../../../../../test/support/standing-requests.ts";

const MINUTE_MS = 60_000;

/** Watches the market for this many minutes, in which nothing changes. */
async function watch(world: TestApp, minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute += 1) {
    await world.settled();
    await world.runLoop("record-bid-floors");
    world.clock.jump(MINUTE_MS);
  }
  await world.settled();
  await world.runLoop("record-bid-floors");
}

async function ask(world: TestApp, url: string) {
  const answer = await world.call({ url });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

type Rung = Readonly<Record<"price" | "running_share" | "interruptions" | "cost", number>>;
const short = ({ price, running_share: share, interruptions, cost }: Rung) => [price, share, interruptions, cost];

test("a renter sees for each bid how long it would have run on a machine, how often it stopped and what it cost", async (t) => {
  const world = await testApp(t);
  const [host, renter, other] = [await world.host({ gpus: 2 }), await world.caller(), await world.caller()];
  await setPrices(world, host, { price: 1, minBid: 0.2 });
  const offerId = (await world.offersOf(host)).get(2);
  await watch(world, 30);
  // Somebody bids for both GPUs: another bid has to beat that.
  const bid = await rentAndRun(world, renter, host, { size: 2, price: 0.6 });
  await watch(world, 15);
  // On demand nobody can be outbid.
  const onDemand = await rent(world, other, host, { size: 2 });
  await host.obey();
  await watch(world, 15);
  for (const [user, id] of [
    [renter, bid],
    [other, onDemand],
  ] as const) {
    await destroy(world, user, id);
    await host.obey();
  }
  await watch(world, 60);
  const history = await ask(world, `/api/v0/asks/${offerId}/bid-history/?hours=24&price=0.5`);
  assert.deepEqual([history.ask_id, history.num_gpus, history.known_hours], [offerId, 2, 2]);
  assert.equal(history.lowest_now, 0.4);
  assert.deepEqual(history.ladder.map(short), [
    [0.4, 0.75, 1, 0.6],
    [0.601, 0.875, 1, 1.05175],
  ]);
  assert.deepEqual(short(history.at_price), [0.5, 0.75, 1, 0.75]);
  assert.equal(history.points.length, 2);
  const model = await ask(world, "/api/v0/market/bid-history/?gpu_name=RTX_4090&num_gpus=2&hours=24");
  assert.deepEqual(model.ladder, history.ladder);
  const single = await ask(world, "/api/v0/market/bid-history/?gpu_name=RTX_4090&hours=24");
  assert.deepEqual(single.ladder.map(short)[0].slice(0, 3), [0.2, 0.75, 1]);
});

test("idle GPUs of a host that takes nobody are no supply, and its own job is no competition", async (t) => {
  const world = await testApp(t);
  const [host, open] = [await world.host({ gpus: 1 }), await world.host({ gpus: 1, gpuName: "H100 SXM" })];
  await setPrices(world, host, { price: 1, minBid: 0.2 });
  await setPrices(world, open, { price: 2, minBid: 0.5 });
  const offerId = (await world.offersOf(host)).get(1);
  await watch(world, 10);
  await world.env.pool.query("update machines set is_listed = false where id = $1", [host.machineId]);
  await setPrices(world, host, { price: 1, minBid: 0.2 });
  await watch(world, 10);
  const history = await ask(world, `/api/v0/asks/${offerId}/bid-history/`);
  assert.equal(history.lowest_now, null);
  assert.deepEqual(history.ladder.map(short)[0].slice(0, 3), [0.2, 0.5, 1]);
  await world.env.pool.query("update machines set is_listed = true where id = $1", [host.machineId]);
  await setPrices(world, host, { price: 1, minBid: 0.2 });
  await world.env.pool.query(
    `insert into leases (device_id, machine_id, instance_id, generation, is_bid, price_nanos_per_device_hour, granted_at)
     select (select min(id) from devices where machine_id = $1), $1, $2, 1, true, 0, now()`,
    [host.machineId, await rent(world, await world.caller(), open, { price: 0.6 })],
  );
  await setPrices(world, host, { price: 1, minBid: 0.2 });
  await watch(world, 1);
  assert.equal((await ask(world, `/api/v0/asks/${offerId}/bid-history/`)).lowest_now, 0.2);
});

test("a time in which no server watched is not known, and two servers store a change once", async (t) => {
  const world = await testApp(t);
  const host = await world.host({ gpus: 1 });
  await setPrices(world, host, { price: 1, minBid: 0.2 });
  await watch(world, 30);
  world.clock.jump(60 * MINUTE_MS);
  await setPrices(world, host, { price: 1, minBid: 0.3 });
  await watch(world, 30);
  const offerId = (await world.offersOf(host)).get(1);
  const history = await ask(world, `/api/v0/asks/${offerId}/bid-history/`);
  assert.equal(history.known_hours, 1);
  assert.deepEqual(history.ladder.map(short), [
    [0.2, 0.5, 0, 0.1],
    [0.3, 1, 0, 0.3],
  ]);
  const rows = await world.env.pool.query("select count(*)::integer as count from bid_floors");
  assert.deepEqual(rows.rows, [{ count: 2 }]);
  // Eight days later only the last change is left.
  world.clock.jump(9 * 24 * 60 * MINUTE_MS);
  await watch(world, 1);
  const left = await world.env.pool.query("select floor_nanos::float / 1e9 as floor from bid_floors");
  assert.ok(left.rows.length <= 2 && left.rows[0]?.floor === 0.3, JSON.stringify(left.rows));
});

test("questions about bids of the past are refused with the field that is wrong", async (t) => {
  const world = await testApp(t);
  const host = await world.host();
  const id = (await world.offersOf(host)).get(1);
  assert.equal((await world.call({ url: `/api/v0/asks/${id}/bid-history/` })).status, 200);
  for (const [url, status, field] of [
    ["/api/v0/asks/2000000000/bid-history/", 404, "no_such_ask"],
    ["/api/v0/asks/none/bid-history/", 400, "id"],
    [`/api/v0/asks/${id}/bid-history/?hours=0`, 400, "hours"],
    [`/api/v0/asks/${id}/bid-history/?hours=169`, 400, "hours"],
    [`/api/v0/asks/${id}/bid-history/?price=-1`, 400, "price"],
    ["/api/v0/market/bid-history/", 400, "gpu_name"],
    ["/api/v0/market/bid-history/?gpu_name=a&num_gpus=0", 400, "num_gpus"],
  ] as const) {
    const answer = await world.call({ url });
    assert.equal(answer.status, status, answer.text);
    assert.match(answer.text, new RegExp(field));
  }
});
