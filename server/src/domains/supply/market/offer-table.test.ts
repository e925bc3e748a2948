import assert from "node:assert/strict";
import { test } from "node:test";
import { aUser, inTransaction } from "../../../../../test/support/fixtures.ts";
import { testApp } from "../../../../../test/support/app.ts";
import { aMachine } from "../../../../../test/support/hosts/machines.ts";
import { MARKET_CHANNEL } from "../hosts/for-assembly.ts";
import { notifyMachines } from "../hosts/for-instances.ts";
import { refreshOffers } from "./index.ts";
import { searchOffers } from "./for-assembly.ts";
import { asId, type MachineId, type OfferId } from "../../../base/ids.ts";

test("offers of more machines than one notification can name all become visible", async (t) => {
  const world = await testApp(t);
  const { database } = world.env;
  const ids: MachineId[] = [];
  await inTransaction(database, async (tx) => {
    const host = await aUser(tx);
    for (let count = 0; count < 60; count += 1) ids.push(await aMachine(tx, host.id));
    await refreshOffers(tx, ids);
    // Real ids and many more: several notifications, each within what PostgreSQL takes.
    const far = Array.from({ length: 1500 }, (_, index) => (2_000_000_000 + index) as MachineId);
    await notifyMachines(tx, MARKET_CHANNEL, [...far, ...ids]);
  });
  await world.settled();
  assert.deepEqual(
    [...world.app.offers.index.machineIds].toSorted((a, b) => a - b),
    ids,
  );
  assert.equal(world.app.offers.size, 60 * 4, "one to four of four cores");
  assert.deepEqual(world.complaints, []);
});

test("a change that comes while another is read is not lost", async (t) => {
  const world = await testApp(t);
  const host = await world.host({ gpus: 4 });
  const { channel } = world.app.offers;
  await world.env.pool.query("update machines set price_device_nanos_per_hour = 1");
  channel.onGap();
  await world.env.pool.query("update machines set price_device_nanos_per_hour = 5000000000");
  channel.onMessage(String(host.machineId));
  await world.app.offers.settled();
  const found = searchOffers(world.app.offers.index, {}, { now: world.clock.now(), rentedMachines: new Set() });
  assert.deepEqual([found.length, ...new Set(found.map((offer) => offer.dph_base / offer.num_gpus))], [4, 5]);
});

test("a deleted machine leaves the table", async (t) => {
  const world = await testApp(t);
  const host = await world.host();
  assert.equal(world.app.offers.size, 2);
  await world.env.pool.query("update offers set retired_at = now()");
  world.app.offers.channel.onMessage(String(host.machineId));
  await world.app.offers.settled();
  assert.equal(world.app.offers.size, 0);
});

test("a caller who was told that an offer is rented finds it in no search, and no older read brings it back", async (t) => {
  const world = await testApp(t);
  const [host, renter] = [await world.host({ gpus: 4 }), await world.caller()];
  const { index, channel } = world.app.offers;
  const listed = () => searchOffers(index, {}, { now: world.clock.now(), rentedMachines: new Set() });
  const ids = () => listed().map(({ id }) => id);
  const [first] = listed().filter(({ num_gpus: count }) => count === 2);
  assert.ok(first !== undefined);
  const answer = await world.app.http.app.inject({
    method: "PUT",
    url: `/api/v0/asks/${first.id}/`,
    headers: { authorization: `Bearer ${renter.secret}` },
    payload: { image: "busybox" },
  });
  assert.equal(answer.statusCode, 200, answer.body);
  assert.ok(!ids().includes(first.id), "in the turn in which the answer came");
  // The state that a read sees which began before the rental was committed.
  await world.settled();
  await world.env.pool.query("update offers set retired_at = now()");
  await world.env.pool.query("update offers set retired_at = null where id = $1", [first.id]);
  channel.onMessage(String(host.machineId));
  await world.app.offers.settled();
  assert.ok(!ids().includes(first.id));
});

test("an offer is removed alone, in any place among those of its machine", async (t) => {
  const world = await testApp(t);
  await world.host({ gpus: 4 });
  const { index } = world.app.offers;
  const ids = () =>
    searchOffers(index, { order: [["num_gpus", "asc"]] }, { now: world.clock.now(), rentedMachines: new Set() }).map(
      ({ id }) => id,
    );
  const [one, two, three, four] = ids().map((id) => asId<OfferId>(id));
  assert.ok(one !== undefined && two !== undefined && three !== undefined && four !== undefined);
  const left = new Set<number>([one, two, three, four]);
  for (const id of [two, one, four, three]) {
    index.removeOffer(id);
    index.removeOffer(id);
    left.delete(id);
    assert.deepEqual(ids(), [...left]);
    assert.equal(index.offers.size, left.size);
  }
  assert.equal(index.offers.size, 0);
});
