import assert from "node:assert/strict";
import { test } from "node:test";
import { giveCredit, testApp } from "../../../../../test/support/app.ts";
import { destroy, rent, show } from "../../../../../test/support/rentals.ts";
import {
  askToWait,
  becomes,
  cancelRequest,
  matchRuns,
  setPrices,
  showRequest,
  waitFor,
} from "../../../../../test/support/standing-requests.ts";

test("a standing request rents when a machine comes, at no more than its limit, and the books are right", async (t) => {
  const world = await testApp(t);
  const renter = await world.caller();
  const id = await waitFor(world, renter, { label: "mine", env: { A: "1" }, max_dph: 2 });
  const before = await showRequest(world, renter, id);
  assert.deepEqual([before.status, before.position, before.offers_matching, before.cheapest_dph], ["open", 1, 0, null]);
  const host = await world.host({ gpus: 2 });
  await setPrices(world, host, { price: 1.5 });
  const claimed = await becomes(world, renter, id, "claimed");
  assert.equal(claimed.position, null);
  const instance = await show(world, renter, claimed.instance_id);
  assert.deepEqual([instance.num_gpus, instance.label, instance.disk_space], [1, "mine", 10]);
  await host.obey();
  assert.equal((await show(world, renter, claimed.instance_id)).actual_status, "running");
  await world.assertBooks();
});

test("a wrong request is refused when it is made, by the name of the field", async (t) => {
  const world = await testApp(t);
  const renter = await world.caller();
  const wrong: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
    [{ max_dph: -1 }, "max_dph"],
    [{ max_dph: 0 }, "max_dph"],
    [{ max_dph: 2 ** 53 }, "max_dph"],
    [{ max_dph: "1" }, "max_dph"],
    [{ max_dph: undefined }, "max_dph"],
    [{ max_dph: 1, price: 2 }, "price"],
    [{ price: 500 }, "price"],
    [{ expires_in_hours: 0 }, "expires_in_hours"],
    [{ expires_in_hours: 721 }, "expires_in_hours"],
    [{ image: undefined }, "image"],
    [{ disk: 1 }, "disk"],
    [{ q: 7 }, "q"],
    [{ q: "num_gpus >" }, "q"],
    [{ q: '{"a":' }, "q"],
    [{ q: { num_gpus: { like: 1 } } }, "num_gpus.like"],
    [{ q: { gpu_nmae: { eq: "RTX 4090" } } }, "gpu_nmae"],
    [{ q: { gpu_name: { in: Array.from({ length: 1000 }, (_, index) => `G${index}`) } } }, "machine_id"],
    [{ q: { gpu_name: { eq: "x".repeat(9000) } } }, "q"],
    [{ q: { type: "bid" } }, "price"],
    [{ q: "num_gpus=1 type=bid" }, "price"],
    [{ q: { min_bid: { lte: 1 } }, price: 0.5 }, "q"],
    [{ q: { order: [["nothing", "asc"]] } }, "order"],
    [{ template_hash_id: "0".repeat(32) }, "template_hash_id"],
    [{ target_state: "stopped" }, "target_state"],
    [{ volume_info: { create_new: false, volume_id: 2_000_000_000 } }, ""],
    [{ env: "-v V.2000000000:/data" }, ""],
    [{ volume_info: { create_new: true, volume_id: 1, size: 5 } }, "volume_info.create_new"],
  ];
  for (const [body, field] of wrong) {
    const answer = await askToWait(world, renter, body);
    assert.ok(answer.status === 400 || answer.status === 404, `${JSON.stringify(body).slice(0, 80)}: ${answer.text}`);
    assert.match(String(answer.body.field), new RegExp(`^"?${field}|^undefined$`), answer.text);
  }
  const poor = await world.caller({ dollars: 0 });
  const refused = await askToWait(world, poor);
  assert.deepEqual([refused.status, refused.body.error], [400, "insufficient_credit"]);
  const { body } = await world.call({ url: "/api/v0/standing_requests/", secret: renter.secret });
  assert.deepEqual(body.standing_requests, []);
});

test("requests are seen and cancelled by their owner only; one that became an instance is not cancelled", async (t) => {
  const world = await testApp(t);
  const [renter, other] = [await world.caller(), await world.caller()];
  const first = await waitFor(world, renter, { max_dph: 0.001, q: "gpu_name=RTX_4090 num_gpus=1" });
  const second = await waitFor(world, renter, { max_dph: 0.002 });
  for (const url of [`/api/v0/standing_requests/${first}/`, "/api/v0/standing_requests/2000000000/"]) {
    const answer = await world.call({ url, secret: other.secret });
    assert.deepEqual([answer.status, answer.body.error], [404, "no_such_standing_request"]);
  }
  assert.equal((await cancelRequest(world, other, first)).status, 404);
  assert.equal((await cancelRequest(world, renter, first)).status, 200);
  assert.equal((await cancelRequest(world, renter, first)).status, 200);
  const { body } = await world.call({ url: "/api/v0/standing_requests/", secret: renter.secret });
  const listed = body.standing_requests as readonly Record<string, unknown>[];
  assert.deepEqual(
    listed.map(({ id, status, position, max_dph: max }) => [id, status, position, max]),
    [
      [second, "open", 1, 0.002],
      [first, "cancelled", null, 0.001],
    ],
  );
  const host = await world.host({ gpus: 1 });
  await setPrices(world, host, { price: 0.5 });
  const shown = await showRequest(world, renter, second);
  assert.deepEqual([shown.offers_matching, shown.offers_at_any_price, shown.cheapest_dph], [0, 1, 0.5]);
  await setPrices(world, host, { price: 0.001 });
  const { instance_id: instance } = await becomes(world, renter, second, "claimed");
  const late = await cancelRequest(world, renter, second);
  assert.deepEqual([late.status, late.body.error, late.body.instance_id], [409, "standing_request_claimed", instance]);
  assert.equal((await showRequest(world, renter, first)).status, "cancelled");
});

test("a repeated call makes one request, and an account has a hundred at most", async (t) => {
  const world = await testApp(t);
  const renter = await world.caller();
  const call = {
    method: "POST",
    url: "/api/v0/standing_requests/",
    secret: renter.secret,
    headers: { "idempotency-key": "again" },
    body: { q: {}, max_dph: 0.001, image: "busybox" },
  } as const;
  const [once, twice] = [await world.call(call), await world.call(call)];
  assert.deepEqual(twice.body, once.body);
  const answers = await Promise.all(Array.from({ length: 102 }, () => askToWait(world, renter)));
  assert.equal(answers.filter(({ status }) => status === 200).length, 99, "also when all of them come at once");
  const over = await askToWait(world, renter);
  assert.deepEqual([over.status, over.body.error], [400, "max_standing_requests"]);
});

test("the older request is served first, and the next when its offer is given back", async (t) => {
  const world = await testApp(t);
  const [early, late] = [await world.caller(), await world.caller()];
  const first = await waitFor(world, early);
  const second = await waitFor(world, late);
  assert.equal((await showRequest(world, late, second)).position, 2);
  const host = await world.host({ gpus: 1 });
  await setPrices(world, host, { price: 0.5 });
  const { instance_id: instance } = await becomes(world, early, first, "claimed");
  await matchRuns(world);
  assert.deepEqual((await showRequest(world, late, second)).status, "open");
  await host.obey();
  await destroy(world, early, instance);
  await host.obey();
  await becomes(world, late, second, "claimed");
  await world.assertBooks();
});

test("a renter who cannot pay keeps the place and sees why; a renter who can pay is served meanwhile", async (t) => {
  const world = await testApp(t);
  const host = await world.host({ gpus: 2 });
  await setPrices(world, host, { price: 6 });
  const [poor, rich] = [await world.caller({ dollars: 0.5 }), await world.caller()];
  const first = await waitFor(world, poor, { max_dph: 8 });
  const second = await waitFor(world, rich, { max_dph: 8 });
  await becomes(world, rich, second, "claimed");
  await matchRuns(world);
  const waiting = await showRequest(world, poor, first);
  assert.equal(waiting.status, "open");
  assert.match(waiting.reason, /credit/i);
  await giveCredit(world, poor, 10);
  world.clock.advance(16_000);
  await becomes(world, poor, first, "claimed");
  await world.assertBooks();
});

test("a request is expired after its time, even before the row says so", async (t) => {
  const world = await testApp(t);
  const renter = await world.caller();
  const id = await waitFor(world, renter, { expires_in_hours: 1 });
  world.clock.advance(3_600_000);
  assert.equal((await showRequest(world, renter, id)).status, "expired");
  const host = await world.host({ gpus: 1 });
  await setPrices(world, host, { price: 0.1 });
  await matchRuns(world);
  assert.equal((await showRequest(world, renter, id)).instance_id, null);
  assert.deepEqual(await world.runLoop("close-standing-requests"), { expired: 1, forgotten: 0 });
  assert.deepEqual(await world.runLoop("close-standing-requests"), { expired: 0, forgotten: 0 });
  assert.equal((await showRequest(world, renter, id)).status, "expired");
  world.clock.advance(31 * 86_400_000);
  assert.deepEqual(await world.runLoop("close-standing-requests"), { expired: 0, forgotten: 1 });
});

test("a bid waits until it would run, and pays what it bids", async (t) => {
  const world = await testApp(t);
  const [holder, renter] = [await world.caller(), await world.caller()];
  const host = await world.host({ gpus: 1 });
  await setPrices(world, host, { price: 2, minBid: 0.1, disk: 0.72 });
  const rented = await rent(world, holder, host, { price: 0.5, disk: 10 });
  await host.obey();
  // A disk of ten gigabytes costs a cent an hour here, so a bid of a dollar goes with more than a dollar in total.
  const tooLow = await waitFor(world, renter, { price: 0.4, max_dph: undefined });
  const noRoom = await waitFor(world, renter, { price: 0.7, max_dph: 0.705 });
  const id = await waitFor(world, renter, { price: 0.7, max_dph: 0.8 });
  const { instance_id: instance } = await becomes(world, renter, id, "claimed");
  const record = await show(world, renter, instance);
  assert.deepEqual([record.is_bid, record.dph_base], [true, 0.7]);
  await matchRuns(world);
  for (const other of [tooLow, noRoom]) assert.equal((await showRequest(world, renter, other)).status, "open");
  assert.notEqual(rented, instance);
});

test("the price is compared again when the offer is claimed", async (t) => {
  const world = await testApp(t);
  const host = await world.host({ gpus: 1 });
  await setPrices(world, host, { price: 0.5 });
  // The update tells no process, so the table of offers shows the old price.
  await world.env.pool.query("update machines set price_device_nanos_per_hour = 3000000000 where id = $1", [
    host.machineId,
  ]);
  const renter = await world.caller();
  const id = await waitFor(world, renter);
  await matchRuns(world, 4);
  assert.equal((await showRequest(world, renter, id)).status, "open");
  const { rows } = await world.env.pool.query("select count(*)::integer as count from instances");
  assert.deepEqual(rows, [{ count: 0 }]);
});

test("a request whose template was deleted fails with the reason", async (t) => {
  const world = await testApp(t);
  const renter = await world.caller();
  const body = { name: "gone", image: "busybox", private: true };
  const made = await world.call({ method: "POST", url: "/api/v0/template/", secret: renter.secret, body });
  const { id: template, hash_id: hash } = made.body.template as { id: number; hash_id: string };
  const id = await waitFor(world, renter, { template_hash_id: hash, image: undefined });
  assert.equal((await showRequest(world, renter, id)).template_hash_id, hash);
  await world.call({
    method: "DELETE",
    url: "/api/v0/template/",
    secret: renter.secret,
    body: { template_id: template },
  });
  const host = await world.host({ gpus: 1 });
  await setPrices(world, host, { price: 0.1 });
  const failed = await becomes(world, renter, id, "failed");
  assert.match(failed.reason, /template/);
});

test("the password of a registry is stored encrypted while the request waits, and reaches the host that serves it", async (t) => {
  const world = await testApp(t);
  const renter = await world.caller();
  const login = "-u me -p s3cret-word registry.example";
  const id = await waitFor(world, renter, { image: "registry.example/app", image_login: login });
  const { rows } = await world.env.pool.query<{ text: string }>(
    "select standing_requests::text as text from standing_requests",
  );
  assert.doesNotMatch(rows[0]?.text ?? "s3cret-word", /s3cret-word/);
  const host = await world.host({ gpus: 1 });
  await setPrices(world, host, { price: 0.1 });
  await becomes(world, renter, id, "claimed");
  await host.obey();
  const [instance] = host.desired?.instances ?? [];
  assert.match(JSON.stringify(instance), /s3cret-word/);
});

test("a request that offers a hair too little keeps no other waiting, however old it is", async (t) => {
  const world = await testApp(t);
  const [stingy, renter] = [await world.caller(), await world.caller()];
  const host = await world.host({ gpus: 1 });
  await setPrices(world, host, { price: 0.5, minBid: 0.25, disk: 0.3 });
  const { body } = await world.call({ method: "POST", url: "/api/v0/bundles/", body: { allocated_storage: 10 } });
  const { dph_total: total } = (body.offers as readonly { dph_total: number }[])[0] ?? { dph_total: 0 };
  const before = [
    await waitFor(world, stingy, { max_dph: total - 3e-9 }),
    await waitFor(world, stingy, { price: 0.249999997 }),
    await waitFor(world, stingy, { price: 0.3, max_dph: 0.304 }),
  ];
  const after = await waitFor(world, renter, { max_dph: total });
  const { instance_id: instance } = await becomes(world, renter, after, "claimed");
  assert.ok((await show(world, renter, instance)).dph_total <= total);
  for (const id of before) assert.equal((await showRequest(world, stingy, id)).status, "open");
});
