import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { listedHost } from "../../../../../../test/support/money/contracts.ts";
import type { FakeHost } from "../../../../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../../../../test/support/fixtures.ts";
import { askFor, rentAndRun, type RentOptions } from "../../../../../../test/support/rentals.ts";
import { chargeForStorage } from "../../../../../../test/support/storage.ts";

/** Everything that a rental could leave behind. */
async function rows({ env }: TestApp): Promise<unknown> {
  const { rows: found } = await env.pool.query(
    `select (select count(*) from instances) as instances, (select count(*) from volumes) as volumes,
       (select count(*) from api_keys) as keys, (select count(*) from ledger_holds) as holds,
       (select count(*) from leases) as leases, (select count(*) from idempotency_keys) as idempotency,
       (select sum(held_nanos) from ledger_accounts) as held, (select count(*) from instance_events) as events,
       (select array_agg(id order by id) from offers where retired_at is null) as offers`,
  );
  return found[0];
}

async function forecast(world: TestApp, user: TestCaller, host: FakeHost, options: RentOptions = {}) {
  const answer = await askFor(world, user, host, { ...options, dry_run: true });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

test("a forecast says what a rental costs, what it holds and how long the balance lasts, and changes nothing", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 0.5 }, { gpus: 4 });
  await chargeForStorage(world, host, 0.15);
  const user = await world.caller({ dollars: 10 });
  const before = await rows(world);
  // 0.15 $ per GB and month of 720 hours: 100 GB cost 0.0208333… $ an hour.
  const answer = await forecast(world, user, host, { size: 2, disk: 100 });
  assert.deepEqual(await rows(world), before);
  const offerId = (await world.offersOf(host)).get(2);
  const { hold, ...rest } = answer;
  assert.deepEqual(rest, {
    success: true,
    dry_run: true,
    ask_id: offerId,
    price: {
      gpu_per_hour: 1,
      disk_per_hour: 0.020833333,
      volume_per_hour: 0,
      total_per_hour: 1.020833333,
      inet_up_per_gb: answer.price.inet_up_per_gb,
      inet_down_per_gb: answer.price.inet_down_per_gb,
    },
    // The budget of the service: $2, and four times the hourly price of the GPUs.
    traffic_limit: 6,
    traffic_limit_source: "budget",
    balance: 10,
    balance_lasts_hours: { now: null, after: 9.79 },
    caps: [],
    would_start: true,
    reason: null,
  });
  // The real rental holds the amount of the forecast.
  await rentAndRun(world, user, host, { size: 2, disk: 100 });
  const { rows: holds } = await world.env.pool.query(
    "select amount_nanos as amount from ledger_holds order by id limit 1",
  );
  assert.equal(Number(holds[0].amount) / 1e9, hold);
  const second = await forecast(world, user, host);
  assert.ok(second.balance_lasts_hours.now > second.balance_lasts_hours.after, JSON.stringify(second));
  await world.assertBooks();
});

test("a forecast with a new volume counts its cost, and refuses one that cannot be had", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 0.5 }, { gpus: 2 });
  const user = await world.caller({ dollars: 10 });
  await world.env.pool.query(
    `insert into volume_offers (id, machine_id, size_bytes, price_nanos_per_gb_month, end_at, created_at, updated_at)
     overriding system value values (9001, $1, 100e9::bigint, 72000000000, '2027-01-01', '2026-01-01', '2026-01-01')`,
    [host.machineId],
  );
  const before = await rows(world);
  const info = { create_new: true, volume_id: 9001, size: 5, mount_path: "/data", name: "mine" };
  const answer = await forecast(world, user, host, { volume_info: info });
  assert.deepEqual(
    [answer.price.volume_per_hour, answer.price.disk_per_hour, answer.price.total_per_hour],
    [0.5, 0, 1],
    JSON.stringify(answer.price),
  );
  assert.deepEqual(answer.balance_lasts_hours, { now: null, after: 10 });
  // Fifteen GB by default.
  const { size: _size, ...unsized } = info;
  assert.equal((await forecast(world, user, host, { volume_info: unsized })).price.volume_per_hour, 1.5);
  for (const wrong of [{ size: 101 }, { size: 0 }, { volume_id: 9002 }]) {
    const refused = await askFor(world, user, host, { volume_info: { ...info, ...wrong }, dry_run: true });
    assert.ok([400, 404].includes(refused.status), refused.text);
  }
  assert.deepEqual(await rows(world), before);
  // The rental then costs the amount of the forecast.
  await rentAndRun(world, user, host, { volume_info: info });
  const next = await forecast(world, user, host);
  assert.ok(next.balance_lasts_hours.now <= 10 && next.balance_lasts_hours.now > 9.9, JSON.stringify(next));
});

test("a forecast says why a rental would not start: credit, a cap, a bid too low, or its own wish", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 1 }, { gpus: 1 });
  const [user, poor] = [await world.caller(), await world.caller({ dollars: 0.01 })];
  const before = await rows(world);
  const short = await forecast(world, poor, host);
  assert.deepEqual([short.would_start, short.reason.error], [false, "insufficient_credit"]);
  assert.ok(short.price.total_per_hour === 1 && short.balance_lasts_hours.after === 0.01, JSON.stringify(short));
  const stopped = await forecast(world, user, host, { target_state: "stopped" });
  assert.deepEqual([stopped.would_start, stopped.reason.error, stopped.hold], [false, "made_stopped", 0]);
  const bid = await forecast(world, user, host, { price: 0.2 });
  assert.deepEqual([bid.would_start, bid.price.gpu_per_hour], [true, 0.2]);
  assert.deepEqual(await rows(world), before);

  await world.call({
    method: "PUT",
    url: "/api/v0/caps/",
    secret: user.secret,
    body: { scope: "account", period: "day", limit: 0.05 },
  });
  const capped = await forecast(world, user, host);
  assert.deepEqual([capped.would_start, capped.reason.error], [false, "cap_reached"]);
  const [{ id: _id, ...cap }] = capped.caps;
  assert.deepEqual(cap, { scope: "account", scope_id: user.id, period: "day", limit: 0.05, left: 0.05 });
  await world.assertBooks();
});

test("a forecast is refused as the real rental is, and creates nothing", async (t) => {
  const world = await testApp(t);
  const host = await listedHost(world, { dollarsPerHour: 1 }, { gpus: 2 });
  const [user, other] = [await world.caller(), await world.caller()];
  const reader = await world.caller({ permissions: { api: { instance_read: {} } } });
  const before = await rows(world);
  const wrong: readonly [string, RentOptions][] = [
    ["image", { image: "no spaces allowed" }],
    ["disk", { disk: 100_000 }],
    ["price", { price: -1 }],
    ["dry_run", { dry_run: "yes" }],
    ["dry_run", { dry_run: 1 }],
  ];
  for (const [field, options] of wrong) {
    const answer = await askFor(world, user, host, { dry_run: true, ...options });
    assert.deepEqual([answer.status, answer.body.field], [400, field], answer.text);
  }
  const url = "/api/v0/asks/2000000000/";
  const absent = await world.call({ method: "PUT", url, secret: user.secret, body: { image: "a", dry_run: true } });
  assert.deepEqual([absent.status, absent.body.error], [404, "invalid_args"]);
  assert.equal((await askFor(world, reader, host, { dry_run: true })).status, 403);
  const ids = [...(await world.offersOf(host)).values()];
  const bulk = { image: "busybox", ids, dry_run: true };
  const many = await world.call({ method: "POST", url: "/api/v0/asks/bulk/", secret: user.secret, body: bulk });
  assert.deepEqual(
    [many.status, many.body.field],
    [400, "dry_run"],
    "a request for many rentals refuses the flag instead of renting",
  );
  assert.deepEqual(await rows(world), before);

  const offerId = (await world.offersOf(host)).get(2);
  await rentAndRun(world, other, host, { size: 2 });
  const gone = await world.call({
    method: "PUT",
    url: `/api/v0/asks/${offerId}/`,
    secret: user.secret,
    body: { image: "busybox", dry_run: true },
  });
  assert.deepEqual([gone.status, gone.body.error], [410, "no_such_ask"], gone.text);
});
