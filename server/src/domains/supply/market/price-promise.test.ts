import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import type { FakeHost } from "../../../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../../../test/support/fixtures.ts";
import { listMachine } from "../../../../../test/support/hosts/hosting.ts";
import { anotherShop } from "../../../../../test/support/money/price-promise.ts";
import { rentAndRun, setState, show } from "../../../../../test/support/rentals.ts";

async function aMarket(t: Parameters<typeof testApp>[0], gpus = 2) {
  const world = await testApp(t);
  const owner = await world.caller();
  const host = await world.host({ owner, gpus });
  const relist = async (body: object) => {
    const answer = await listMachine(world, owner, host.machineId, body);
    assert.equal(answer.status, 200, answer.text);
    await world.settled();
  };
  await relist({ price_gpu: 3, price_disk: 0.15, duration: "4 weeks", vol_size: 100, vol_price: 0.1 });
  return { world, owner, host, relist, renter: await world.caller({ dollars: 1000 }) };
}

const rentBy = ({ call }: TestApp, renter: TestCaller, id: number | undefined, body: object = {}) =>
  call({ method: "PUT", url: `/api/v0/asks/${id}/`, secret: renter.secret, body: { image: "busybox", ...body } });

const offerOf = async (world: TestApp, host: FakeHost, size = 1) => (await world.offersOf(host)).get(size) ?? 0;

test("a renter who saw $3 never pays $99: the old offer answers 410 and names the new price and the new offer", async (t) => {
  const { world, host, relist, renter } = await aMarket(t);
  const seen = await offerOf(world, host);
  await relist({ price_gpu: 99 });
  const successor = await offerOf(world, host);
  const answer = await rentBy(world, renter, seen);
  assert.deepEqual(
    [answer.status, answer.body.error, answer.body.ask_id, answer.body.new_ask_id, answer.body.dph_base],
    [410, "no_such_ask", seen, successor, 99],
  );
  assert.equal(
    answer.body.msg,
    `Offer ${seen} is no longer available: the price of a device rose from $3 to $99 an hour. Offer ${successor} is of the same size on the same machine and costs $99 an hour without storage.`,
  );
  assert.equal((await rentBy(world, renter, successor)).body.dph_base, 99);
});

const WORSE: Readonly<Record<string, object>> = {
  "the price of a GPU": { price_gpu: 3.01 },
  "the price of storage": { price_disk: 0.16 },
  "the price of sent traffic": { price_inetu: 0.15 },
  "the price of received traffic": { price_inetd: 0.15 },
  "the largest discount": { credit_discount_max: 0.1 },
  "the end": { duration: "3 weeks" },
};
for (const [what, terms] of Object.entries(WORSE)) {
  test(`an offer gets another id when ${what} becomes worse for renters, in every size`, async (t) => {
    const { world, host, relist, renter } = await aMarket(t);
    const before = await world.offersOf(host);
    await relist(terms);
    const after = await world.offersOf(host);
    for (const size of [1, 2]) {
      assert.notEqual(after.get(size), before.get(size));
      const answer = await rentBy(world, renter, before.get(size));
      assert.deepEqual([answer.status, answer.body.new_ask_id], [410, after.get(size)], answer.text);
    }
  });
}

test("an offer that becomes cheaper keeps its id, and then promises the lower price", async (t) => {
  const { world, host, relist, renter } = await aMarket(t);
  const seen = await offerOf(world, host);
  await relist({ price_gpu: 2, price_disk: 0.1, duration: "8 weeks", credit_discount_max: 0.5 });
  assert.equal(await offerOf(world, host), seen);
  // Still below the first price, and above the second one.
  await relist({ price_gpu: 2.5 });
  assert.equal((await rentBy(world, renter, seen)).status, 410);
});

test("an offer keeps its id when only the lowest bid changes: a bid pays what it offers", async (t) => {
  const { world, host, relist, renter } = await aMarket(t);
  const seen = await offerOf(world, host);
  await relist({ price_min_bid: 2 });
  const refused = await rentBy(world, renter, seen, { price: 1 });
  assert.deepEqual([refused.status, refused.body.error], [400, "bid_below_minimum"]);
  const made = await rentBy(world, renter, seen, { price: 2.2 });
  assert.deepEqual([made.status, made.body.dph_base], [200, 2.2], made.text);
});

test("an offer gets another id when its machine loses its verification or its place in a data centre", async (t) => {
  const { world, host } = await aMarket(t);
  const admin = await world.caller();
  await world.env.pool.query("update users set is_admin = true where id = $1", [admin.id]);
  const decide = async (body: object) => {
    const url = `/api/v0/admin/machines/${host.machineId}/verification/`;
    const answer = await world.call({ method: "PUT", url, secret: admin.secret, body });
    assert.equal(answer.status, 200, answer.text);
  };
  const verified = await offerOf(world, host);
  await decide({ verification: "verified", hosting_type: 1 });
  assert.equal(await offerOf(world, host), verified);
  await decide({ hosting_type: 0 });
  const elsewhere = await offerOf(world, host);
  assert.notEqual(elsewhere, verified);
  await decide({ verification: "unverified" });
  assert.notEqual(await offerOf(world, host), elsewhere);
});

test("an offer gets another id when its machine comes back with other GPUs", async (t) => {
  const { world, host, renter } = await aMarket(t);
  const seen = await offerOf(world, host);
  host.terminate();
  await world.env.pool.query("update devices set facts = facts || jsonb_build_object('name', 'GTX 1080 Ti')");
  const answer = await rentBy(world, renter, seen);
  assert.deepEqual([answer.status, /its hardware changed/.test(answer.body.msg)], [410, true], answer.text);
});

test("a price that rose in the database alone is found before it is paid", async (t) => {
  const { world, host, renter } = await aMarket(t);
  const seen = await offerOf(world, host);
  await world.env.pool.query("update machines set price_device_nanos_per_hour = 99000000000");
  const answer = await rentBy(world, renter, seen);
  assert.deepEqual([answer.status, answer.body.new_ask_id], [410, await offerOf(world, host)], answer.text);
  assert.notEqual(await offerOf(world, host), seen);
});

test("another server, and one that starts later, answers 410 for an offer that was replaced, not 404", async (t) => {
  const { world, host, relist, renter } = await aMarket(t);
  const seen = await offerOf(world, host);
  const other = await anotherShop(t, world);
  await relist({ price_gpu: 99 });
  const later = await anotherShop(t, world);
  for (const shop of [other, later]) {
    for (const _again of [1, 2]) {
      await assert.rejects(shop.rent(renter.identity, seen), { kind: "gone", code: "no_such_ask", message: /\$99/ });
    }
  }
});

test("the answer to a rental shows the agreed terms, and so does the instance", async (t) => {
  const { world, host, renter } = await aMarket(t);
  const { body } = await rentBy(world, renter, await offerOf(world, host), { disk: 72 });
  assert.deepEqual(
    [body.dph_base, body.dph_total, body.storage_total_cost, body.storage_cost, body.inet_up_cost, body.inet_down_cost],
    [3, 3.015, 0.015, 0.15, 0.002, 0.002],
  );
  const shown = await show(world, renter, body.new_contract);
  assert.deepEqual([shown.dph_base, shown.dph_total, shown.end_date], [body.dph_base, body.dph_total, body.end_date]);
});

test("max_dph refuses a rental that costs more with its disk, alone, in bulk and by launch", async (t) => {
  const { world, host, renter } = await aMarket(t);
  const id = await offerOf(world, host);
  const dear = await rentBy(world, renter, id, { disk: 72, max_dph: 3.0149 });
  assert.deepEqual([dear.status, dear.body.error], [410, "no_such_ask"]);
  assert.match(dear.body.msg, /costs \$3\.015 an hour with its disk, and this order pays at most \$3\.0149\./);
  const call = (method: "PUT" | "POST", url: string, body: object) =>
    world.call({ method, url, secret: renter.secret, body: { image: "busybox", disk: 72, ...body } });
  const bulk = await call("POST", "/api/v0/asks/bulk/", { ids: [id], max_dph: 3 });
  assert.deepEqual([bulk.status, bulk.body.error], [400, "no_such_ask"], bulk.text);
  const launch = await call("PUT", "/api/v0/launch_instance/", { num_gpus: 1, max_dph: 3 });
  assert.equal(launch.status, 410, launch.text);
  for (const wrong of [0, -1, "3", 1e9]) {
    const refused = await rentBy(world, renter, id, { max_dph: wrong });
    assert.deepEqual([refused.status, refused.body.field], [400, "max_dph"], refused.text);
  }
  const made = await rentBy(world, renter, id, { disk: 72, max_dph: 3.015 });
  assert.equal(made.status, 200, made.text);
  const bid = await rentBy(world, renter, await offerOf(world, host), { disk: 72, price: 2, max_dph: 2 });
  assert.equal(bid.status, 410, bid.text);
});

test("a stopped instance starts again at its own price, even if its machine costs more by then", async (t) => {
  const { world, host, relist, renter } = await aMarket(t);
  const id = await rentAndRun(world, renter, host);
  assert.equal((await setState(world, renter, id, "stopped")).status, 200);
  await host.obey();
  await relist({ price_gpu: 99, price_disk: 1, price_inetu: 0.15 });
  assert.equal((await setState(world, renter, id, "running")).status, 200);
  await host.obey();
  const shown = await show(world, renter, id);
  assert.deepEqual(
    [shown.actual_status, shown.dph_base, shown.storage_cost, shown.inet_up_cost],
    ["running", 3, 0.15, 0.002],
  );
});

test("space for volumes gets another offer id when it becomes dearer or ends sooner, and keeps it when cheaper", async (t) => {
  const { world, relist, host, renter } = await aMarket(t);
  const offerId = async () => {
    const { rows } = await world.env.pool.query<{ id: number }>(
      "select id from volume_offers where machine_id = $1 and unlisted_at is null",
      [host.machineId],
    );
    return rows[0]?.id ?? 0;
  };
  const rent = (id: number) =>
    world.call({ method: "PUT", url: "/api/v0/volumes/", secret: renter.secret, body: { id, size: 10 } });
  const seen = await offerId();
  await relist({ vol_price: 0.05 });
  assert.equal(await offerId(), seen);
  await relist({ vol_price: 0.06 });
  const dearer = await offerId();
  const refused = await rent(seen);
  assert.deepEqual(
    [refused.status, refused.body.error, refused.body.new_ask_id],
    [410, "no_such_volume_offer", dearer],
    refused.text,
  );
  assert.match(refused.body.msg, /its price rose from \$0\.05 to \$0\.06 per GB and month/);
  await relist({ duration: "1 week" });
  assert.equal((await rent(dearer)).status, 410);
  const made = await rent(await offerId());
  assert.deepEqual([made.status, made.body.storage_cost], [200, 0.06], made.text);
});
