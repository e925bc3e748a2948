import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import { inTransaction } from "../../../../../test/support/fixtures.ts";
import { rent } from "../../../../../test/support/rentals.ts";
import { setPrices } from "../../../../../test/support/standing-requests.ts";
import { issueAgentToken } from "../hosts/for-assembly.ts";

const MINUTES_MS = 60_000;

async function metrics(world: TestApp, path: string, secret: string) {
  const answer = await world.call({ url: `/api/v0/metrics/gpu/${path}`, secret });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

test("a census counts rented and available GPUs, and prices by percentiles, once for all processes", async (t) => {
  const world = await testApp(t);
  const renter = await world.caller();
  const owner = await world.caller();
  const [first, second, third] = [
    await world.host({ gpus: 2, owner }),
    await world.host({ gpus: 4 }),
    await world.host({ gpus: 1, gpuName: "H100 SXM" }),
  ];
  for (const [host, price] of [
    [first, 0.2],
    [second, 0.4],
    [third, 2],
  ] as const)
    await setPrices(world, host, { price });
  await world.env.pool.query("update machines set verification = 'unverified', hosting_type = 1 where id = $1", [
    second.machineId,
  ]);
  await rent(world, renter, first, { size: 2, disk: 10 });
  const counts = await Promise.all([world.runLoop("sample-market"), world.runLoop("sample-market")]);
  assert.deepEqual(new Set(counts), new Set([{ samples: 23 }, { samples: 0 }]));
  const { secret } = owner;
  const { gpus } = await metrics(world, "current/?verified=all", secret);
  assert.deepEqual(
    gpus.map((gpu: Record<string, unknown>) => [gpu["gpu_name"], gpu["total"], gpu["available"], gpu["usage"]]),
    [
      ["RTX 4090", 6, 4, 33.33],
      ["H100 SXM", 1, 1, 0],
    ],
  );
  const [both] = gpus;
  assert.deepEqual(
    [both.rented_verified, both.avail_verified, both.rented_unverified, both.avail_unverified],
    [2, 0, 0, 4],
  );
  assert.deepEqual([both.price_p10, both.price_p25, both.price_median, both.price_p90], [0.2, 0.2, 0.4, 0.4]);
  assert.deepEqual([both.dlperf, both.dlperf_per_dollar, both.usage_30d], [100, 250, 33.33]);
  const verified = (await metrics(world, "current/", secret)).gpus;
  assert.deepEqual([verified[0].total, verified[0].avail_unverified], [2, 0]);
  const centre = (await metrics(world, "current/?verified=all&hosting_type=secure_cloud", secret)).gpus;
  assert.deepEqual(
    centre.map((gpu: Record<string, unknown>) => [gpu["gpu_name"], gpu["total"]]),
    [["RTX 4090", 4]],
  );

  const { locations } = await metrics(world, "locations/", secret);
  const oslo = { latitude: 61, longitude: 9, city: "Oslo", country_code: "NO" };
  assert.deepEqual(locations, [
    { ...oslo, gpu_name: "RTX 4090", rented: true, state: "rented", verified: true, datacenter: false, num_gpus: 2 },
    {
      ...oslo,
      gpu_name: "RTX 4090",
      rented: false,
      state: "available",
      verified: false,
      datacenter: true,
      num_gpus: 4,
    },
    {
      ...oslo,
      gpu_name: "H100 SXM",
      rented: false,
      state: "available",
      verified: true,
      datacenter: false,
      num_gpus: 1,
    },
  ]);
});

test("machines of one size are counted by themselves, in machines and in GPUs, also over time", async (t) => {
  const world = await testApp(t);
  const [owner, renter] = [await world.caller(), await world.caller()];
  const { secret } = owner;
  for (const [gpus, price] of [
    [2, 0.2],
    [2, 0.3],
    [3, 0.4],
  ] as const) {
    const host = await world.host({ gpus, owner });
    await setPrices(world, host, { price });
    if (price === 0.3) await rent(world, renter, host, { size: 2, disk: 10 });
  }
  const figures = async (bucket: string) => {
    const { gpus } = await metrics(world, `current/?verified=all&num_gpus=${bucket}`, secret);
    const [gpu] = gpus;
    if (gpu === undefined) return [];
    const { total, available, total_gpus, available_gpus, rented_verified_gpus, bucket_size, usage, price_p90 } = gpu;
    return [total, available, total_gpus, available_gpus, rented_verified_gpus, bucket_size, usage, price_p90];
  };
  await world.runLoop("sample-market");
  assert.deepEqual(await figures("all"), [7, 5, 7, 5, 2, 1, 28.57, 0.4]);
  assert.deepEqual(await figures("2"), [2, 1, 4, 2, 2, 2, 50, 0.3]);
  assert.deepEqual(await figures("other"), [3, 3, 3, 3, 0, 1, 0, 0.4]);
  assert.deepEqual(await figures("8"), []);
  for (let hour = 0; hour < 2; hour += 1) {
    world.clock.jump(60 * MINUTES_MS);
    await world.runLoop("sample-market");
  }
  await world.runLoop("keep-market-samples");
  const start = world.clock.now().getTime() / 1000 - 3 * 3600;
  const history = async (bucket: string) => {
    const path = `history/?verified=all&gpu_name=all&step=3600&start=${start}&num_gpus=${bucket}`;
    const { supply_demand: counted } = (await metrics(world, path, secret)).gpus["RTX 4090"];
    return [counted.total.at(-1), counted.total_gpus.at(-1), counted.rented_verified_gpus.at(-1), counted.bucket_size];
  };
  assert.deepEqual(await history("all"), [7, 7, 2, 1]);
  assert.deepEqual(await history("2"), [2, 4, 2, 2]);
});

test("listed GPUs that nobody can rent now are counted apart, and never as supply", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const { secret } = owner;
  const [host, other, unlisted] = [
    await world.host({ gpus: 4, owner }),
    await world.host({ gpus: 2, gpuName: "H100 SXM" }),
    await world.host({ gpus: 8, gpuName: "H100 SXM" }),
  ];
  const { pool } = world.env;
  await pool.query("update devices set is_healthy = false where machine_id = $1 and position = 0", [host.machineId]);
  await pool.query("update machines set is_connected = false where id = any ($1)", [
    [other.machineId, unlisted.machineId],
  ]);
  await pool.query("update machines set is_listed = false where id = $1", [unlisted.machineId]);
  await world.runLoop("sample-market");
  const { gpus } = await metrics(world, "current/?verified=all", secret);
  assert.deepEqual(
    gpus.map((gpu: Record<string, unknown>) => [gpu["gpu_name"], gpu["total"], gpu["available"], gpu["unavailable"]]),
    [
      ["RTX 4090", 3, 3, 1],
      ["H100 SXM", 0, 0, 2],
    ],
  );
  assert.deepEqual([gpus[0].total_gpus, gpus[0].avail_verified_gpus, gpus[0].bucket_size], [3, 3, 1]);
  assert.deepEqual([gpus[1].usage, gpus[1].usage_30d, gpus[1].price_median], [0, 0, null]);
  world.clock.jump(60 * MINUTES_MS);
  assert.deepEqual(await world.runLoop("keep-market-samples"), { rolled: 1, forgotten: 0 });
  const history = (await metrics(world, "history/?gpu_name=H100_SXM,RTX_4090&step=3600", secret)).gpus;
  const { supply_demand: counts } = history["H100 SXM"];
  assert.deepEqual([counts.total, counts.unavail_verified, counts.unavail_unverified], [[0], [2], [0]]);
  assert.deepEqual(history["RTX 4090"].supply_demand.available_gpus, [3]);
  const { locations } = await metrics(world, "locations/", secret);
  assert.deepEqual(
    locations.map((row: Record<string, unknown>) => [row["gpu_name"], row["state"], row["rented"], row["num_gpus"]]),
    [
      ["RTX 4090", "available", false, 3],
      ["RTX 4090", "unavailable", false, 1],
      ["H100 SXM", "unavailable", false, 2],
    ],
  );
  const { body } = await world.call({ url: "/api/v0/gpu_prices/" });
  assert.deepEqual(
    body.gpus.map((gpu: Record<string, unknown>) => gpu["gpu_name"]),
    ["RTX 4090"],
  );
});

test("history is told by censuses, then by hours and days that hold their means, and does not grow for ever", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const host = await world.host({ gpus: 4, owner });
  const { secret } = owner;
  const startSeconds = world.clock.now().getTime() / 1000;
  for (let census = 0; census < 24; census += 1) {
    await setPrices(world, host, { price: census < 12 ? 0.2 : 0.4 });
    await world.runLoop("sample-market");
    world.clock.jump(5 * MINUTES_MS);
  }
  assert.deepEqual(await world.runLoop("keep-market-samples"), { rolled: 2, forgotten: 0 });
  assert.deepEqual(await world.runLoop("keep-market-samples"), { rolled: 0, forgotten: 0 });
  const ask = async (query: string) =>
    (await metrics(world, `history/?gpu_name=RTX_4090&${query}`, secret)).gpus["RTX 4090"];
  const range = `start=${startSeconds}&end=${startSeconds + 7_200}`;
  const fine = await ask(`${range}&step=300`);
  assert.equal(fine.pricing.timestamps.length, 24);
  assert.deepEqual(
    [fine.pricing.avail_median[0], fine.pricing.avail_median[23], fine.pricing.rented_p10[0]],
    [0.2, 0.4, null],
  );
  const hourly = await ask(`${range}&step=3600`);
  assert.deepEqual(hourly.supply_demand.timestamps, [startSeconds, startSeconds + 3_600]);
  assert.deepEqual(hourly.supply_demand.avail_verified, [4, 4]);
  assert.deepEqual(hourly.supply_demand.total, [4, 4]);
  assert.deepEqual(hourly.pricing.avail_median, [0.2, 0.4]);
  assert.deepEqual(hourly.stats, { tflops: 82, dlperf: 100, tflops_per_dollar: 205, dlperf_per_dollar: 250 });
  // Times without a census are left out, and a kind that is absent has zeros.
  const other = (await metrics(world, "history/?verified=no", secret)).gpus;
  assert.deepEqual(Object.keys(other), ["RTX 5090", "RTX 4090", "RTX 3090"]);
  assert.deepEqual(new Set(other["RTX 5090"].supply_demand.total), new Set([0]));
  assert.deepEqual(Object.keys((await metrics(world, "history/?gpu_name=all", secret)).gpus), ["RTX 4090"]);

  world.clock.jump(24 * 60 * MINUTES_MS);
  assert.deepEqual(await world.runLoop("keep-market-samples"), { rolled: 1, forgotten: 0 });
  assert.deepEqual((await ask(`${range}&step=86400`)).pricing.avail_median, [0.3]);
  world.clock.jump(36 * 24 * 60 * MINUTES_MS);
  assert.deepEqual(await world.runLoop("keep-market-samples"), { rolled: 0, forgotten: 24 });
  const { rows } = await world.env.pool.query("select distinct step_s from gpu_samples order by step_s");
  assert.deepEqual(rows, [{ step_s: 3_600 }, { step_s: 86_400 }]);
  assert.equal((await ask(`${range}&step=300`)).pricing.timestamps.length, 0);
});

test("metrics are for hosts: one without machines is told so, and a renter is refused", async (t) => {
  const world = await testApp(t);
  const [renter, joining] = [await world.caller(), await world.caller()];
  const grant = { userId: joining.id, name: "rig", isTrusted: false };
  await inTransaction(world.env.database, (tx) => issueAgentToken(tx, grant));
  for (const path of ["current/", "history/", "locations/"]) {
    assert.deepEqual(await metrics(world, path, joining.secret), { success: true, needs_machine: true });
    const refused = await world.call({ url: `/api/v0/metrics/gpu/${path}`, secret: renter.secret });
    assert.deepEqual([refused.status, refused.body.error], [403, "not_a_host"]);
  }
  const owner = await world.caller();
  await world.host({ gpus: 1, owner });
  for (const [query, field] of [
    ["current/?verified=maybe", "verified"],
    ["current/?hosting_type=cloud", "hosting_type"],
    ["current/?num_gpus=3", "num_gpus"],
    ["history/?step=-1", "step"],
    ["history/?start=2100-01-01T00:00:00Z", "start"],
  ] as const) {
    const answer = await world.call({ url: `/api/v0/metrics/gpu/${query}`, secret: owner.secret });
    assert.deepEqual([answer.status, answer.body.field], [400, field], answer.text);
  }
  const refused = await world.call({ url: "/api/v0/metrics/gpu/current/?verified=maybe", secret: owner.secret });
  assert.equal(refused.body.msg, "verified must be one of yes, no, all");
});

test("prices of GPUs now and a day ago are public", async (t) => {
  const world = await testApp(t);
  const host = await world.host({ gpus: 2 });
  const prices = async () => (await world.call({ url: "/api/v0/gpu_prices/" })).body;
  assert.deepEqual(await prices(), { success: true, sampled_at: null, gpus: [] });
  await setPrices(world, host, { price: 0.3 });
  await world.runLoop("sample-market");
  world.clock.jump(24 * 60 * MINUTES_MS);
  await setPrices(world, host, { price: 0.5 });
  await world.runLoop("sample-market");
  const { gpus, sampled_at: at } = await prices();
  assert.equal(at, world.clock.now().getTime() / 1000);
  const figures = (price: number) => ({ available: 2, median: price, p10: price, p90: price });
  assert.deepEqual(gpus, [{ gpu_name: "RTX 4090", now: figures(0.5), day_ago: figures(0.3) }]);
});

test("a renter reads prices and supply of a kind by the hour, and no count that tells of single rentals", async (t) => {
  const world = await testApp(t);
  const renter = await world.caller();
  const hosts = [await world.host({ gpus: 4 }), await world.host({ gpus: 4 }), await world.host({ gpus: 2 })];
  for (const [index, price] of [0.3, 0.5, 0.7].entries()) {
    const host = hosts[index];
    if (host !== undefined) await setPrices(world, host, { price });
  }
  const [cheapest] = hosts;
  assert.ok(cheapest);
  const history = async (query: string) => {
    const answer = await world.call({ url: `/api/v0/market/history/?${query}` });
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  await world.runLoop("sample-market");
  await rent(world, renter, cheapest, { size: 4, disk: 10 });
  world.clock.jump(2 * 60 * MINUTES_MS);
  await world.runLoop("sample-market");
  await world.runLoop("keep-market-samples");
  const { points, ...rest } = await history("gpu_name=RTX_4090&days=1");
  assert.deepEqual(rest, { success: true, gpu_name: "RTX 4090", num_gpus: "all", step_s: 3600 });
  assert.deepEqual(
    points.map(({ at: _at, ...figures }: { readonly at: number }) => figures),
    [
      { lowest_ask: 0.3, median_ask: 0.5, offered_gpus: 10, rented_gpus: 0, free_gpus: 10 },
      { lowest_ask: 0.5, median_ask: 0.5, offered_gpus: 10, rented_gpus: 4, free_gpus: 6 },
    ],
  );
  assert.equal(points[1].at - points[0].at, 7200);
  const four = await history("gpu_name=RTX 4090&num_gpus=4&days=1");
  assert.deepEqual(
    four.points.map((point: Record<string, unknown>) => [
      point["offered_gpus"],
      point["rented_gpus"],
      point["free_gpus"],
    ]),
    [
      [8, null, null],
      [8, null, null],
    ],
  );
  assert.deepEqual((await history("gpu_name=none")).points, []);
  const days = await history("gpu_name=RTX_4090&days=30");
  assert.deepEqual([days.step_s, days.points.length <= 2, days.points.at(-1).lowest_ask], [86_400, true, 0.3]);
  for (const [query, field] of [
    ["", "gpu_name"],
    ["gpu_name=a&days=0", "days"],
    ["gpu_name=a&days=401", "days"],
    ["gpu_name=a&num_gpus=3", "num_gpus"],
    ["gpu_name=a&verified=maybe", "verified"],
  ] as const) {
    const refused = await world.call({ url: `/api/v0/market/history/?${query}` });
    assert.equal(refused.status, 400, refused.text);
    assert.match(refused.text, new RegExp(field));
  }
});
