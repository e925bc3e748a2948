import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp } from "../../../../../test/support/app.ts";
import { rentAndRun } from "../../../../../test/support/rentals.ts";

type Offer = Record<string, unknown> & { readonly id: number; readonly machine_id: number };

test("searching offers", async (t) => {
  const world = await testApp(t);
  const [small, large, cores] = [
    await world.host({ gpus: 1, gpuName: "RTX 4090", facts: { geolocation: "Oslo, NO", driver_version: "535.86.05" } }),
    await world.host({ gpus: 4, gpuName: "H100 SXM", facts: { geolocation: "Reno, US", driver_version: "570.9.01" } }),
    await world.host({ gpus: 0, facts: { geolocation: ", DE" } }),
  ];
  const user = await world.caller();
  const ask = (body: unknown, secret?: string) =>
    world.call({ method: "POST", url: "/api/v0/bundles/", body, ...(secret === undefined ? {} : { secret }) });
  const find = async (body: unknown, secret?: string): Promise<readonly Offer[]> => {
    const answer = await ask(body, secret);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.headers["content-type"], "application/json");
    return answer.body.offers;
  };
  const sizes = async (body: object) => {
    const found = await find({
      limit: 100,
      order: [
        ["machine_id", "asc"],
        ["num_gpus", "asc"],
      ],
      ...body,
    });
    return found.map((offer) => [offer.machine_id, offer["num_gpus"]]);
  };
  const cpuOffers = Array.from({ length: 16 }, () => [3, 0]);
  const everything = [[1, 1], [2, 1], [2, 2], [2, 3], [2, 4], ...cpuOffers];
  const hundred = everything.filter(([machine]) => machine === 2);

  await t.test("needs no key and has no hidden filters", async () => {
    assert.deepEqual(await sizes({}), everything);
    assert.equal((await ask({}, "wrong")).status, 401, "a key that is sent must be a key");
    assert.deepEqual((await find({}, user.secret)).length, everything.length);
  });

  await t.test("every row has the fields that clients crash without", async () => {
    for (const offer of await find({ limit: 100 })) {
      for (const field of [
        "dph_base",
        "dph_total",
        "storage_cost",
        "disk_space",
        "min_bid",
        "dlperf",
        "score",
        "duration",
        "inet_up",
        "reliability",
      ]) {
        assert.equal(typeof offer[field], "number", field);
      }
      assert.ok(Number.isInteger(offer["gpu_ram"]) && Number(offer["cpu_cores"]) > 0);
      assert.deepEqual([offer["rentable"], offer["rented"], offer["external"]], [true, false, false]);
      assert.match(String(offer["geolocation"]), /, [A-Z]{2}$/);
      assert.equal(offer["ask_contract_id"], offer.id);
    }
  });

  await t.test("filters by each kind of column with each operator", async () => {
    const cases: readonly [object, readonly (readonly number[])[]][] = [
      [{ gpu_name: { eq: "H100 SXM" } }, hundred],
      [{ gpu_name: { eq: "H100_SXM" } }, hundred],
      [{ gpu_name: { in: ["RTX_4090", "L4"] } }, [[1, 1]]],
      [{ gpu_name: { in: "RTX 4090" } }, [[1, 1]]],
      [{ gpu_name: { notin: ["H100 SXM", "CPU"] } }, [[1, 1]]],
      [{ num_gpus: { gte: 2 } }, [[2, 2], [2, 3], [2, 4]]],
      [{ num_gpus: { gt: "1", lt: "4" } }, [[2, 2], [2, 3]]],
      [{ num_gpus: { lte: 1, neq: 0 } }, [[1, 1], [2, 1]]],
      [{ gpu_ram: { gte: 24_000 }, num_gpus: { eq: 1 } }, [[1, 1], [2, 1]]],
      [{ gpu_ram_GB: { gte: 24 }, num_gpus: { eq: 4 } }, [[2, 4]]],
      [{ gpu_totalram: { gt: 200_000 } }, [[2, 3], [2, 4]]],
      [{ gpu_total_ram: { gt: 200_000 } }, [[2, 3], [2, 4]]],
      [{ geolocation: { eq: "US" } }, hundred],
      [{ geolocation: { notin: ["US", "DE"] } }, [[1, 1]]],
      [{ geolocation: { in: "us" } }, hundred],
      [{ verified: { eq: true }, gpu_frac: { eq: 1 }, num_gpus: { gt: 0 } }, [[1, 1], [2, 4]]],
      [{ verified: { eq: false } }, []],
      [{ verification: { eq: "verified" }, num_gpus: { eq: 2 } }, [[2, 2]]],
      [{ rentable: { eq: false } }, []],
      [{ external: { eq: false } }, everything],
      [{ external: false }, everything],
      [{ external: true }, []],
      [{ has_avx: 1 }, everything],
      [{ has_avx: false }, []],
      [{ datacenter: { eq: true } }, []],
      [{ resource_type: "gpu" }, everything.filter(([machine]) => machine !== 3)],
      [{ driver_version: { gte: "560.00.00" } }, hundred],
      [{ driver_version: { gte: 560_000_000 } }, hundred],
      [{ driver_version: { lt: 535_086_006 }, num_gpus: { gt: 0 } }, [[1, 1]]],
      [{ duration: { gte: 86_400 * 89 } }, everything],
      [{ duration: { gte: 86_400 * 3650 } }, []],
      [{ target_reliability: 0.6 }, everything],
      [{ target_reliability: 0.999 }, []],
      [{ reliability2: { gte: 0.6 }, machine_id: { eq: 2 } }, hundred],
      [{ compute_capability: { gte: "800" }, no_such_thing: { eq: 1 } }, everything],
      [{ gpu_name: { eq: "any" }, num_gpus: { eq: "any" }, verified: { eq: "any" } }, everything],
      [{ dph: { lt: 0.2 }, num_gpus: { gt: 0 } }, []],
      [{ dph_total: { lt: 0.4 }, num_gpus: { gt: 0 } }, [[1, 1], [2, 1]]],
      [{ allocated_storage: 940 }, [[1, 1], [2, 4], [3, 0]]],
      [{ disk_space: { gte: 400 }, num_gpus: { eq: 2 } }, [[2, 2]]],
    ]; // prettier-ignore
    for (const [query, expected] of cases) assert.deepEqual(await sizes(query), expected, JSON.stringify(query));
  });

  await t.test("orders by score by default, and takes a limit", async () => {
    const scores = (await find({ limit: 100 })).map((offer) => Number(offer["score"]));
    assert.deepEqual(
      scores,
      scores.toSorted((a, b) => b - a),
    );
    const byPrice = (
      await find({
        order: [
          ["dph_total", "desc"],
          ["id", "asc"],
        ],
        limit: 3,
      })
    ).map((one) => Number(one["dph_total"]));
    assert.deepEqual([byPrice.length, byPrice], [3, byPrice.toSorted((a, b) => b - a)]);
    assert.equal((await find({ order: [["dlperf_usd", "asc"]], limit: 3000 })).length, everything.length);
    assert.equal((await find({ order: [{ col: "driver_version", dir: "desc" }], limit: "1" }))[0]?.machine_id, 2);
    assert.deepEqual(await find({ limit: 0 }), []);
  });

  await t.test("prices storage and bids as requested", async () => {
    const [plain] = await find({ num_gpus: { eq: 4 }, allocated_storage: 0 });
    const [stored] = await find({ num_gpus: { eq: 4 }, allocated_storage: 720 });
    assert.deepEqual([plain?.["dph_base"], plain?.["dph_total"], plain?.["min_bid"]], [1.2, 1.2, 0.6]);
    // 720 GB at $0.15 a month, which has 720 hours.
    assert.ok(Math.abs(Number(stored?.["dph_total"]) - 1.35) < 1e-9);
    const [bid] = await find({ num_gpus: { eq: 4 }, allocated_storage: 0, type: "interruptible" });
    assert.deepEqual([bid?.["dph_total"], bid?.["is_bid"]], [0.6, true]);
    for (const type of ["on-demand", "ondemand", "bid", "reserved"]) await find({ type });
  });

  await t.test("refuses meaningless conditions by name", async () => {
    for (const [field, body] of [
      ["type", { type: "free" }],
      ["limit", { limit: -1 }],
      ["limit", { limit: "" }],
      ["allocated_storage", { allocated_storage: "much" }],
      ["order[0]", { order: [["no_such", "asc"]] }],
      ["order", { order: "score" }],
      ["num_gpus.like", { num_gpus: { like: 1 } }],
      ["num_gpus.eq", { num_gpus: { eq: "many" } }],
      ["num_gpus", { num_gpus: 4 }],
      ["q", { q: "num_gpus >" }],
      ["q", { q: "{not json" }],
      ["q", { q: 7 }],
    ] as const) {
      const answer = await ask(body);
      assert.deepEqual([answer.status, answer.body.field], [400, field], answer.text);
    }
    const broken = await world.call({ method: "POST", url: "/api/v0/bundles/", text: "{" });
    assert.deepEqual([broken.status, broken.body.error], [400, "invalid_request"]);
  });

  await t.test("reads queries as text, as JSON text and as an object, in body and address", async () => {
    const text = "num_gpus>=2 gpu_name=H100_SXM gpu_ram>=24 duration>10 driver_version>=560.00.00 verified=any";
    const json = JSON.stringify({ num_gpus: { gte: 2 } });
    for (const q of [text, json, { num_gpus: { gte: 2 } }]) {
      assert.deepEqual(
        await sizes({ q }),
        [
          [2, 2],
          [2, 3],
          [2, 4],
        ],
        JSON.stringify(q),
      );
    }
    const get = await world.call({ url: `/api/v0/bundles/?q=${encodeURIComponent(json)}` });
    assert.equal(get.body.offers.length, 3);
    assert.equal((await world.call({ url: "/api/v0/bundles" })).body.offers.length, everything.length);
  });

  await t.test("has the newer form, with chosen columns, for keys that may search", async () => {
    const body = { select_cols: ["id", "num_gpus"], q: { num_gpus: { eq: 4 } } };
    const call = { method: "PUT", url: "/api/v0/search/asks/", body } as const;
    assert.equal((await world.call(call)).status, 401);
    const reader = await world.caller({ permissions: { api: { instance_read: {} } } });
    assert.equal((await world.call({ ...call, secret: reader.secret })).status, 403);
    const { offers } = (await world.call({ ...call, secret: user.secret })).body;
    assert.deepEqual(
      offers.map((offer: object) => Object.keys(offer).toSorted()),
      [["id", "num_gpus"]],
    );
    const all = await world.call({ ...call, body: { select_cols: ["*"], q: {} }, secret: user.secret });
    assert.equal(all.body.offers.length, everything.length);
  });

  await t.test("says how many offers match, without regard to the limit and to bundles", async () => {
    for (const [limit, rows] of [
      [0, 0],
      [1, 1],
    ]) {
      const { body } = await world.call({ method: "POST", url: "/api/v0/bundles/", body: { limit } });
      const single = { limit: 100, disable_bundling: true };
      const each = await world.call({ method: "POST", url: "/api/v0/bundles/", body: single });
      assert.deepEqual([body.offers.length, body.matching], [rows, each.body.offers.length]);
      assert.equal(each.body.matching, each.body.offers.length);
    }
  });

  await t.test("names the GPUs of the market", async () => {
    const answer = await world.call({ url: "/api/v0/gpu_names/unique/" });
    assert.deepEqual(answer.body, { gpu_names: ["H100 SXM", "RTX 4090"] });
    const types = await world.call({ url: "/api/v0/gpu_types" });
    assert.deepEqual(types.body, {
      gpu_types: [
        { canonical_name: "H100 SXM", gpu_ram_mb: 81_559 },
        { canonical_name: "RTX 4090", gpu_ram_mb: 24_576 },
      ],
    });
  });

  await t.test("a GPU is found by its name, with blanks or without, and an unknown name is 404", async () => {
    const expected = { canonical_name: "RTX 4090", gpu_ram_mb: 24_576 };
    for (const name of ["RTX_4090", "RTX%204090"]) {
      const { status, body } = await world.call({ url: `/api/v0/gpu_types/${name}/` });
      assert.deepEqual([status, body], [200, expected]);
    }
    const { status, body } = await world.call({ url: "/api/v0/gpu_types/7/" });
    assert.deepEqual([status, body.error, body.field], [404, "no_such_gpu_type", "id"]);
  });

  await t.test("a search of asks by GET finds what a query of bundles finds, and needs a key", async () => {
    const query = new URLSearchParams({ q: "num_gpus=4", select_cols: '["id", "num_gpus"]' }).toString();
    const { body: expected } = await world.call({ url: `/api/v0/bundles/?${query}` });
    const { status, body } = await world.call({ url: `/api/v0/search/asks/?${query}`, secret: user.secret });
    assert.deepEqual([status, body], [200, expected]);
    assert.deepEqual([body.offers.length, body.offers[0].num_gpus], [1, 4]);
    assert.equal((await world.call({ url: `/api/v0/search/asks/?${query}` })).status, 401);
  });

  await t.test("the suggested bid of a bundle is its lowest bid that runs, as a bare number", async () => {
    const [offer] = await find({ num_gpus: { eq: 4 } });
    const ask = (path: string, id: unknown, body: unknown = {}) =>
      world.call({ method: "PUT", url: `/api/v0/${path}/${String(id)}/`, body });
    const wishes = { price: 0.01, max_start: 60, min_duration: 3600 };
    for (const body of [{}, wishes, { price: null }]) {
      const answer = await ask("bundles_bid_price", offer?.["bundle_id"], body);
      assert.deepEqual([answer.status, answer.body], [200, 0.6], answer.text);
    }
    assert.deepEqual((await ask("bundles", offer?.["bundle_id"])).body, {});
    for (const path of ["bundles_bid_price", "bundles"]) {
      for (const [id, body] of [
        [7, {}],
        ["x", {}],
        [offer?.["bundle_id"], { min_duration: 1e12 }],
      ] as const) {
        const answer = await ask(path, id, body);
        assert.deepEqual([answer.status, answer.body.error], [404, "no_such_ask"], answer.text);
      }
      for (const field of ["price", "max_start", "min_duration"]) {
        const answer = await ask(path, offer?.["bundle_id"], { [field]: -1 });
        assert.deepEqual([answer.status, answer.body.field], [400, field], answer.text);
      }
    }
  });

  await t.test("refuses thousands of conditions and lists without end, and goes on answering", async () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, number) => [`field_${number}`, { eq: 1 }]));
    const nested = JSON.parse(`${'{"eq":'.repeat(40)}1${"}".repeat(40)}`);
    for (const [field, body] of [
      ["field_256", many],
      ["field_256", { q: many }],
      ["num_gpus.in", { num_gpus: { in: Array.from({ length: 50_000 }, (_, number) => number) } }],
      ["num_gpus.eq", { num_gpus: { eq: "x".repeat(900_000) } }],
      [`num_gpus${".eq".repeat(31)}`, { num_gpus: nested }],
    ] as const) {
      const answer = await ask(body);
      assert.deepEqual([answer.status, answer.body.field], [400, field], answer.text.slice(0, 200));
      assert.ok(answer.text.length < 1000);
    }
    assert.equal((await find({})).length, everything.length);
  });

  await t.test("tells a caller which machines it rents on, and includes them when asked to", async () => {
    await rentAndRun(world, user, large, { size: 1 });
    await world.settled();
    const rented = async (query: object, secret?: string) => {
      const found = await find({ machine_id: { eq: large.machineId }, ...query }, secret);
      return [found.length, found[0]?.["rented"]];
    };
    assert.deepEqual(await rented({}, user.secret), [3, true]);
    assert.deepEqual(await rented({ rented: { eq: false } }, user.secret), [0, undefined]);
    assert.deepEqual(await rented({ rented: { eq: true } }, user.secret), [3, true]);
    assert.equal((await find({ rented: { eq: true }, limit: 100 }, user.secret)).length, 20);
    assert.deepEqual(await rented({ rented: { eq: false } }), [3, false], "nobody without a key rents anything");
  });

  await t.test("a machine that goes away cannot be rented until it is back", async () => {
    await small.disconnect();
    await world.settled();
    assert.deepEqual(
      (await find({ machine_id: { eq: small.machineId } })).map((offer) => offer["rentable"]),
      [false],
    );
    assert.deepEqual(await find({ machine_id: { eq: small.machineId }, rentable: { eq: true } }), []);
    const [offerId] = (await world.offersOf(small)).values();
    const refused = await world.call({
      method: "PUT",
      url: `/api/v0/asks/${offerId}/`,
      secret: user.secret,
      body: { image: "a" },
    });
    assert.deepEqual([refused.status, refused.body.error], [410, "no_such_ask"]);
    await small.connect();
    await world.settled();
    assert.equal((await find({ machine_id: { eq: small.machineId }, rentable: { eq: true } })).length, 1);
    assert.equal(cores.gpus.length, 0);
  });

  await t.test("an offer whose end date is past is not rentable", async () => {
    const last = Math.max(...(await find({ limit: 100 })).map((offer) => Number(offer["duration"])));
    world.clock.jump((last + 1) * 1000);
    assert.deepEqual(await find({ rentable: { eq: true } }), []);
    assert.ok((await find({ limit: 100 })).every((offer) => offer["duration"] === 0 && offer["rentable"] === false));
  });
});

test("a search by address shows the whole market without a limit, with the columns that it names", async (t) => {
  const world = await testApp(t);
  for (let count = 0; count < 5; count += 1) await world.host({ gpus: 0 });
  const single = { disable_bundling: true };
  const get = (query: Record<string, string>) =>
    world.call({ url: `/api/v0/bundles/?${new URLSearchParams(query).toString()}` });
  const posted = await world.call({ method: "POST", url: "/api/v0/bundles/", body: single });
  assert.equal(posted.body.offers.length, 64);
  assert.equal((await get({ q: JSON.stringify(single) })).body.offers.length, 80);
  assert.equal((await get({ q: JSON.stringify({ ...single, limit: 3 }) })).body.offers.length, 3);
  const [whole] = (await get({ q: JSON.stringify(single), select_cols: '["*"]' })).body.offers;
  assert.ok(Object.keys(whole).length > 80);
  const chosen = await get({ select_cols: '["id", "gpu_name", "no_such_column"]' });
  assert.deepEqual(Object.keys(chosen.body.offers[0]).toSorted(), ["gpu_name", "id"]);
  for (const columns of ["id", "7", '{"id": true}', "[7]"]) {
    const refused = await get({ select_cols: columns });
    assert.deepEqual([refused.status, refused.body.field], [400, "select_cols"], refused.text);
  }
  const list = await get({ q: "[]" });
  assert.deepEqual([list.status, list.body.field], [400, "q"], list.text);
});
