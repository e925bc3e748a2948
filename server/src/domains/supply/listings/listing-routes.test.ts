import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import type { FakeHost } from "../../../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../../../test/support/fixtures.ts";
import { listMachine, machineRecord, ofMachine } from "../../../../../test/support/hosts/hosting.ts";
import { askFor, rent, rentAndRun, show, stored } from "../../../../../test/support/rentals.ts";

const DAY_S = 86_400;

async function aHost(t: Parameters<typeof testApp>[0], gpus = 4) {
  const world = await testApp(t);
  const owner = await world.caller();
  return { world, owner, host: await world.host({ owner, gpus }), renter: await world.caller() };
}

const secondsAhead = ({ clock }: TestApp, days: number) => clock.now().getTime() / 1000 + days * DAY_S;

test("new offers follow a listing: its prices, sizes, end and space", async (t) => {
  const { world, owner, host } = await aHost(t);
  const end = secondsAhead(world, 10);
  const body = {
    price_gpu: 0.5,
    price_disk: 0.2,
    price_inetu: 0.01,
    price_inetd: 0.02,
    price_min_bid: 0.25,
    min_chunk: 2,
    end_date: end,
    credit_discount_max: 0.1,
    vol_size: 100,
    vol_price: 0.05,
    duration: null,
  };
  const answer = await listMachine(world, owner, host.machineId, body);
  assert.equal(answer.status, 200, answer.text);
  const { msg, you_sent: sent, results, ...rest } = answer.body;
  const listed = { extended: 0, price_increases: 0, machine_id: host.machineId, end_date: end };
  assert.deepEqual(rest, { success: true, ...listed });
  assert.deepEqual(results, [{ ...listed, user_id: owner.id }]);
  const { duration: _duration, ...fields } = body;
  assert.deepEqual(sent, { machine: host.machineId, ...fields }, "nulls are left out");
  assert.match(msg, /is listed until 2026-01-11/);
  await world.settled();
  const query = { machine_id: { eq: host.machineId }, limit: 10 };
  const { body: found } = await world.call({ method: "POST", url: "/api/v0/bundles/", body: query });
  const offers = found.offers.toSorted((a: { num_gpus: number }, b: { num_gpus: number }) => a.num_gpus - b.num_gpus);
  assert.deepEqual(
    offers.map((offer: Record<string, number>) => [
      offer["num_gpus"],
      offer["dph_base"],
      offer["min_bid"],
      offer["end_date"],
    ]),
    [
      [2, 1, 0.5, end],
      [4, 2, 1, end],
    ],
  );
  assert.deepEqual(
    [offers[0].storage_cost, offers[0].inet_up_cost, offers[0].inet_down_cost, offers[0].credit_discount_max],
    [0.2, 0.01, 0.02, 0.1],
  );
  const record = await machineRecord(world, owner, host);
  assert.deepEqual(
    [record.listed_gpu_cost, record.min_bid_price, record.listed_storage_cost, record.min_chunk, record.end_date],
    [0.5, 0.25, 0.2, 2, end],
  );
  const { id: _, ...space } = record.volume_offer;
  assert.deepEqual(space, { size: 100, rented: 0, storage_cost: 0.05, end_date: end });
});

test("a request without fields keeps a listing, and offers half of the free disk as volumes", async (t) => {
  const { world, owner, host } = await aHost(t);
  await listMachine(world, owner, host.machineId);
  const record = await machineRecord(world, owner, host);
  assert.deepEqual([record.listed_gpu_cost, record.min_bid_price, record.min_chunk], [0.3, 0.15, 1]);
  assert.deepEqual([record.volume_offer.size, record.volume_offer.storage_cost], [500, 0.15]);
  await listMachine(world, owner, host.machineId, { price_gpu: 0.1 });
  const cheaper = await machineRecord(world, owner, host);
  assert.deepEqual([cheaper.listed_gpu_cost, cheaper.min_bid_price], [0.1, 0.1], "no minimum bid above the price");
  assert.equal(cheaper.volume_offer.id, record.volume_offer.id);
  await listMachine(world, owner, host.machineId, { vol_size: 0 });
  assert.equal((await machineRecord(world, owner, host)).volume_offer, null);
});

test("bad terms are refused by the name of their field, and change nothing", async (t) => {
  const { world, owner, host } = await aHost(t, 2);
  const before = await machineRecord(world, owner, host);
  const now = world.clock.now().getTime();
  const bad: readonly (readonly [string, unknown])[] = [
    ...["price_gpu", "price_disk", "price_inetu", "price_inetd", "price_min_bid", "vol_price"].flatMap((field) =>
      [-0.01, 2 ** 53, 10_001, "NaN", "0.5", true, []].map((value) => [field, value] as const),
    ),
    ["min_chunk", 0],
    ["min_chunk", 3],
    ["min_chunk", 1.5],
    ["credit_discount_max", 0.51],
    ["credit_discount_max", -0.1],
    ["end_date", now / 1000 - 1],
    ["end_date", now + DAY_S],
    ["end_date", "tomorrow"],
    ["duration", "soon"],
    ["duration", "0 days"],
    ["duration", {}],
    ["vol_size", -1],
    ["vol_size", 1001],
    ["vol_size", "all"],
    ["machine", "1"],
    ["machine", 2 ** 53],
  ];
  for (const [field, value] of bad) {
    const answer = await listMachine(world, owner, host.machineId, { [field]: value });
    assert.deepEqual([answer.status, answer.body.field], [400, field], `${field} ${String(value)}: ${answer.text}`);
  }
  const both = await listMachine(world, owner, host.machineId, { duration: "3 days", end_date: now / 1000 + DAY_S });
  assert.deepEqual([both.status, both.body.field], [400, "duration"]);
  const tooHigh = await listMachine(world, owner, host.machineId, { price_gpu: 0.2, price_min_bid: 0.3 });
  assert.deepEqual([tooHigh.status, tooHigh.body.field], [400, "price_min_bid"]);
  assert.deepEqual(await machineRecord(world, owner, host), before);
});

test("several machines get the same terms, all of them or none; a list counts before a single machine", async (t) => {
  const { world, owner, host, renter } = await aHost(t, 1);
  const second = await world.host({ owner, gpus: 1 });
  await rentAndRun(world, renter, second);
  const end = secondsAhead(world, 200);
  const machines = [second.machineId, host.machineId, second.machineId];
  const list = (body: object) =>
    world.call({ method: "PUT", url: "/api/v0/machines/create_asks/", secret: owner.secret, body });
  const { status, body, text } = await list({ machine: 1_000_000, machines, price_gpu: 0.2, end_date: end });
  assert.equal(status, 200, text);
  assert.deepEqual([body.extended, body.machine_id, body.end_date], [1, second.machineId, end]);
  assert.deepEqual(
    body.results.map((row: Readonly<Record<string, unknown>>) => [row["machine_id"], row["extended"], row["end_date"]]),
    [
      [second.machineId, 1, end],
      [host.machineId, 0, end],
    ],
  );
  for (const one of [host, second]) {
    assert.equal((await machineRecord(world, owner, one)).listed_gpu_cost, 0.2);
  }
  const foreign = await list({ machines: [host.machineId, 1_000_000], price_gpu: 0.7 });
  assert.deepEqual([foreign.status, foreign.body.error], [403, "not_authorized"]);
  for (const [field, bad] of [
    ["machine", {}],
    ["machines", { machines: [] }],
    ["hidden_listing", { machine: host.machineId, hidden_listing: true }],
  ] as const) {
    const refused = await list({ ...bad, price_gpu: 0.7 });
    assert.deepEqual([refused.status, refused.body.field], [400, field], refused.text);
  }
  assert.equal((await machineRecord(world, owner, host)).listed_gpu_cost, 0.2);
  assert.equal((await list({ machine: host.machineId, hidden_listing: false })).status, 200);
});

test("another host's machine cannot be listed, and looks like an absent one", async (t) => {
  const { world, host, renter } = await aHost(t, 1);
  for (const machine of [host.machineId, 1_000_000]) {
    const answer = await listMachine(world, renter, machine, { price_gpu: 1 });
    assert.deepEqual([answer.status, answer.body.error], [403, "not_authorized"]);
    const minBid = await ofMachine(world, renter, { machineId: machine as FakeHost["machineId"] }, [
      "PUT",
      "minbid/",
      { price: 0.1 },
    ]);
    assert.deepEqual([minBid.status, minBid.body.error], [403, "not_authorized"]);
    const unlist = await ofMachine(world, renter, { machineId: machine as FakeHost["machineId"] }, ["DELETE", "asks/"]);
    assert.deepEqual([unlist.status, unlist.body.error], [404, "no_such_machine"]);
  }
});

test("unlisting stops new rentals only; listing again brings the offers back", async (t) => {
  const { world, owner, host, renter } = await aHost(t, 2);
  await listMachine(world, owner, host.machineId);
  const id = await rentAndRun(world, renter, host, { size: 1 });
  const [offer] = (await world.offersOf(host)).values();
  const answer = await ofMachine(world, owner, host, ["DELETE", "asks/"]);
  assert.deepEqual(
    [answer.status, answer.body],
    [200, { success: true, machine_id: host.machineId, user_id: owner.id, orphaned_cleaned: 0 }],
  );
  assert.equal((await world.offersOf(host)).size, 0);
  const late = await world.call({
    method: "PUT",
    url: `/api/v0/asks/${offer}/`,
    secret: renter.secret,
    body: { image: "busybox" },
  });
  assert.equal(late.status, 410, late.text);
  await host.obey();
  assert.equal((await stored(world, id)).phase, "running");
  const record = await machineRecord(world, owner, host);
  assert.deepEqual([record.listed, record.rentable, record.volume_offer], [false, false, null]);
  await listMachine(world, owner, host.machineId);
  assert.deepEqual([...(await world.offersOf(host)).keys()], [1]);
});

test("a higher minimum bid evicts lower bids, and they resume when it falls", async (t) => {
  const { world, owner, host, renter } = await aHost(t, 2);
  const [low, high] = [
    await rentAndRun(world, renter, host, { price: 0.2 }),
    await rentAndRun(world, renter, host, { price: 0.29 }),
  ];
  const answer = await ofMachine(world, owner, host, ["PUT", "minbid/", { client_id: "me", price: 0.25 }]);
  assert.deepEqual([answer.status, answer.body], [200, { success: true, you_sent: { price: 0.25 } }]);
  await host.obey();
  assert.deepEqual([(await stored(world, low)).phase, (await stored(world, high)).phase], ["scheduled", "running"]);
  await ofMachine(world, owner, host, ["PUT", "minbid/", { price: 0.15 }]);
  await host.obey();
  assert.equal((await stored(world, low)).phase, "running");
  const above = await ofMachine(world, owner, host, ["PUT", "minbid/", { price: 0.31 }]);
  assert.deepEqual([above.status, above.body.error, above.body.field], [422, "unprocessable", "price"]);
  for (const price of [-1, "0.2", 2 ** 53, undefined]) {
    const bad = await ofMachine(world, owner, host, ["PUT", "minbid/", { price }]);
    assert.deepEqual([bad.status, bad.body.field], [400, "price"], String(price));
  }
  await world.assertBooks();
});

test("with the same or a lower price rentals are extended to a later end, at their own price; a higher price asks first", async (t) => {
  const { world, owner, host, renter } = await aHost(t, 4);
  const ids = [await rentAndRun(world, renter, host), await rentAndRun(world, renter, host, { price: 0.2 })];
  const agreed = (await show(world, renter, ids[0]!)).end_date;
  const later = agreed + 5 * DAY_S;
  const extended = await listMachine(world, owner, host.machineId, { price_gpu: 0.2, end_date: later });
  assert.equal(extended.body.extended, 2, extended.text);
  for (const id of ids) assert.equal((await show(world, renter, id)).end_date, later);
  assert.equal((await show(world, renter, ids[0]!)).dph_base, 0.3);
  const shorter = await listMachine(world, owner, host.machineId, { end_date: agreed });
  assert.equal(shorter.body.extended, 0);
  assert.equal((await show(world, renter, ids[0]!)).end_date, later, "an end never comes nearer");
  const dearer = await listMachine(world, owner, host.machineId, { price_gpu: 0.4, end_date: later + DAY_S });
  assert.deepEqual([dearer.body.extended, dearer.body.price_increases], [1, 1], "a bid pays what it bids");
  assert.equal((await show(world, renter, ids[0]!)).end_date, later);
});

test("a listing whose end moves on moves the ends of its rentals and its space", async (t) => {
  const { world, owner, host, renter } = await aHost(t, 2);
  const start = world.clock.now().getTime() / 1000;
  const listed = await listMachine(world, owner, host.machineId, { duration: "3 days" });
  assert.equal(listed.body.end_date, start + 3 * DAY_S);
  const id = await rent(world, renter, host);
  world.clock.jump(1.5 * DAY_S * 1000);
  await world.runLoop("roll-listings");
  const end = start + 4.5 * DAY_S;
  const record = await machineRecord(world, owner, host);
  assert.deepEqual([record.end_date, record.duration, record.volume_offer.end_date], [end, 3 * DAY_S, end]);
  assert.equal((await show(world, renter, id)).end_date, end);
  await world.runLoop("roll-listings");
  assert.equal((await machineRecord(world, owner, host)).end_date, end, "once a day");
});

test("offers that are built again equal those before", async (t) => {
  const { world, owner, host, renter } = await aHost(t, 3);
  await rentAndRun(world, renter, host, { price: 0.2 });
  const before = await world.offersOf(host);
  const defrag = (secret: string, ids: unknown) =>
    world.call({ method: "PUT", url: "/api/v0/machines/defrag_offers/", secret, body: { machine_ids: ids } });
  const answer = await defrag(owner.secret, [host.machineId]);
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(answer.body.machines, [{ machine_id: host.machineId, offers: [1, 2, 3], num_new: 0 }]);
  const { defragmented, n0, n1, n2 } = answer.body;
  assert.deepEqual([defragmented, n0, n1, n2], [[host.machineId], 3, 3, 0]);
  for (const ids of [host.machineId, `${host.machineId}`, `${host.machineId}, ${host.machineId}`]) {
    assert.deepEqual((await defrag(owner.secret, ids)).body, answer.body, String(ids));
  }
  for (const none of [[], ""]) {
    const { status, body } = await defrag(owner.secret, none);
    assert.deepEqual([status, body.success, body.defragmented, body.machines], [200, false, null, []]);
  }
  assert.equal((await defrag(owner.secret, "one")).status, 400);
  assert.deepEqual(await world.offersOf(host), before);
  assert.equal((await defrag(renter.secret, [host.machineId])).status, 404);
  assert.equal((await defrag(owner.secret, [0])).status, 400);
});

test("running rentals keep their price and never end earlier, for any new listing", async (t) => {
  const { world, owner, host, renter } = await aHost(t, 4);
  await listMachine(world, owner, host.machineId, { price_min_bid: 0 });
  const ids = [
    await rentAndRun(world, renter, host, { size: 2 }),
    await rentAndRun(world, renter, host, { price: 0.2 }),
  ];
  const price = fc.constantFrom(undefined, 0.1, 0.3, 0.5);
  const listing = fc.record({
    price_gpu: price,
    price_disk: fc.constantFrom(undefined, 0.1, 0.2),
    end_date: fc.constantFrom(undefined, ...[1, 40, 100, 200].map((days) => secondsAhead(world, days))),
    duration: fc.constantFrom(undefined, "60 days"),
    min_chunk: fc.constantFrom(undefined, 1, 2),
  });
  const look = async () => Promise.all(ids.map((id) => show(world, renter, id)));
  await fc.assert(
    fc.asyncProperty(listing, async (body) => {
      const before = await look();
      const answer = await listMachine(world, owner, host.machineId, body);
      if (answer.status !== 200) assert.equal(answer.status, 400, answer.text);
      const after = await look();
      let extended = 0;
      after.forEach((record, index) => {
        const earlier = before[index];
        assert.deepEqual([record.dph_base, record.storage_cost], [earlier.dph_base, earlier.storage_cost]);
        assert.ok(record.end_date >= earlier.end_date);
        if (record.end_date > earlier.end_date) extended += 1;
      });
      if (answer.status === 200) assert.equal(answer.body.extended, extended);
    }),
    { numRuns: 25 },
  );
  await world.assertBooks();
});

test("a key without machine_write may not list, and one without machine_read sees nothing", async (t) => {
  const { world, host } = await aHost(t, 1);
  const scoped: TestCaller = await world.caller({ permissions: { api: { instance_write: {} } } });
  assert.equal((await listMachine(world, scoped, host.machineId)).status, 403);
  assert.equal((await ofMachine(world, scoped, host, ["GET", ""])).status, 403);
  assert.equal((await askFor(world, scoped, host)).status, 200);
});
