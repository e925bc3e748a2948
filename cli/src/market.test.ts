import assert from "node:assert/strict";
import { test } from "node:test";
import { answer } from "../test/answering-server.ts";

const offer = {
  id: 7,
  num_gpus: 2,
  gpu_name: "RTX 4090",
  gpu_ram: 24_576,
  cpu_cores_effective: 16,
  cpu_ram: 131_072,
  gpu_frac: 0.5,
  disk_space: 500.4,
  dph_total: 0.7512,
  dph_base: 0.75,
  min_bid: 0.3,
  discounted_dph_total: 0.5,
  discount_rate: 0.3333,
  bundled_results: 3,
  reliability2: 0.9876,
  verified: true,
  duration: 10.5 * 86_400,
  geolocation: "Norway, NO",
  is_simulated: false,
  gpu_is_declared: false,
};

const SEARCH = "POST /api/v0/bundles/";

test("a search shows prices, trust and how many equal offers a row stands for", async (t) => {
  const { received, berth } = await answer(t, { [SEARCH]: { body: { offers: [offer] } } });
  const lines = (await berth("search", "gpu_name=RTX_4090", "--storage", "50", "--order", "score-,dph_total")).stdout;
  assert.deepEqual(
    lines.split("\n").map((line) => line.split(/ {2,}/)),
    [
      ["ID", "GPUS", "VRAM GB", "CORES", "RAM GB", "DISK GB", "$/HOUR", "ALIKE", "RELIABLE", "VERIFIED", "DAYS"].concat(
        ["WHERE", "NOTE"],
      ),
      [" 7", "2x RTX 4090", "24", "16", "64", "500", "$0.7512", "3", "98.8 %", "yes", "10", "Norway, NO", "-"],
      [""],
    ].map((line) => line.map((text, index) => (index === 0 ? text : text.trim()))),
  );
  const order = [
    ["score", "desc"],
    ["dph_total", "asc"],
  ];
  const body = { type: "ondemand", allocated_storage: 50, q: "rentable=true gpu_name=RTX_4090", limit: 20, order };
  assert.deepEqual(received, [[SEARCH, body]]);
});

test("a search for bids shows what to bid, one for reserved rentals the discount, and --all folds nothing", async (t) => {
  const { received, berth } = await answer(t, { [SEARCH]: { body: { offers: [offer] } } });
  const bids = await berth("search", "--interruptible", "--all", "--limit", "1");
  assert.match(bids.stdout, /MIN BID \$\/HOUR +WITH DISK +ON DEMAND/);
  assert.match(bids.stdout, /\$0\.30 +\$0\.7512 +\$0\.75 /);
  assert.match(bids.stdout, /\nThe first 1\. More: --limit 5\n$/);
  const reserved = await berth("search", "--reserved");
  assert.match(reserved.stdout, /\$\/HOUR +PREPAID +OFF/);
  assert.match(reserved.stdout, /\$0\.7512 +\$0\.50 +33 %/);
  assert.deepEqual(JSON.parse((await berth("search", "--json")).stdout), { offers: [offer] });
  const types = received.map(([, body]) => body as { readonly type: string; readonly disable_bundling?: true });
  assert.deepEqual(
    types.map(({ type, disable_bundling: isFlat }) => [type, isFlat]),
    [
      ["bid", true],
      ["reserved", undefined],
      ["ondemand", undefined],
    ],
  );
});

test("a search in vain names the condition without which there is something", async (t) => {
  const only = (text: string) => (body: unknown) => {
    const { q } = body as { readonly q: string };
    return { body: { offers: q.includes(text) ? [] : [offer, offer] } };
  };
  const { berth } = await answer(t, { [SEARCH]: only("num_gpus") });
  const said = "No offer matches. There would be\n  without num_gpus >= 9: 2, from $0.7512 per hour\n";
  assert.equal((await berth("search", "gpu_name=RTX_4090", "num_gpus >= 9")).stdout, said);
  assert.deepEqual(JSON.parse((await berth("search", "--json", "num_gpus>=9")).stdout), { offers: [] });
});

test("a search for offers that are taken now names the queue", async (t) => {
  const taken = (body: unknown) => ({
    body: { offers: (body as { readonly q: string }).q.includes("rentable=any") ? [offer] : [] },
  });
  const { berth } = await answer(t, { [SEARCH]: taken });
  assert.match((await berth("search", "num_gpus=2")).stdout, /^No offer matches: 1 that do are taken now\..*queue add/);
});

test("launch searches with the words and the order, and names the queue when there is no offer", async (t) => {
  const path = "PUT /api/v0/launch_instance/";
  const made = { success: true, new_contract: 42, instance_api_key: "k", ask_id: 7 };
  const { received, berth } = await answer(t, { [path]: { body: made } });
  const launched = await berth(
    "launch",
    "num_gpus=1",
    "gpu_name=RTX_4090",
    "--image",
    "busybox",
    "--cancel-unavailable",
  );
  assert.equal(launched.stdout, "Instance 42 is being created from offer 7. See: berth show 42\n");
  assert.deepEqual(JSON.parse((await berth("launch", "--image", "x", "--json", "--stopped")).stdout), made);
  const order = [["dph_total", "asc"]];
  assert.deepEqual(received, [
    [path, { image: "busybox", cancel_unavail: true, q: { q: "num_gpus=1 gpu_name=RTX_4090", order } }],
    [path, { image: "x", target_state: "stopped", q: { q: "", order } }],
  ]);

  const nothing = { status: 404, body: { success: false, error: "no_such_ask", msg: "No offer matches." } };
  const vain = await answer(t, { [path]: nothing });
  const { code, stderr } = await vain.berth("launch", "--image", "x");
  assert.deepEqual([code, stderr], [1, "error: No offer matches.\nWait in the queue for one with: berth queue add\n"]);
});

test("a rental that has to wait for its turn names the instance that was made", async (t) => {
  const said = { success: false, error: "bid_too_low", msg: "The bid is low.", new_contract: 9, ask_id: 7 };
  const { berth } = await answer(t, { "PUT /api/v0/asks/7/": { status: 400, body: said } });
  const { code, stderr } = await berth("rent", "7", "--image", "x", "--price", "0.1");
  assert.equal(code, 1);
  assert.match(stderr, /`berth show 9`; `berth bid 9`/);
});

test("a bid without a price asks for the lowest that runs now, and says what has come of it", async (t) => {
  const waits = { reason: "outbid", ahead: 2, winning_bid: 0.5, bid_to_run_now: 0.501, resumes_no_earlier_than: null };
  const instance = { id: 3, dph_base: 0.4, is_bid: true, waiting_for: waits, interruption: null };
  const { received, berth } = await answer(t, {
    "PUT /api/v0/instances/bid_price/3/": { body: { success: true } },
    "GET /api/v0/instances/3/": { body: { instances: instance } },
  });
  const said = (await berth("bid", "3", "0.4")).stdout;
  assert.match(
    said,
    /^Instance 3 bids \$0\.40 per hour now\. It waits: outbid by \$0\.50 per hour; .*berth bid 3 0\.501\n$/,
  );
  assert.deepEqual(JSON.parse((await berth("bid", "3", "--json")).stdout), {
    success: true,
    id: 3,
    price: 0.4,
    waiting_for: waits,
  });
  const bids = received.flatMap(([line, body]) => (line.startsWith("PUT") ? [body] : []));
  assert.deepEqual(bids, [
    { client_id: "me", price: 0.4 },
    { client_id: "me", price: null },
  ]);
});

test("measurements are drawn as one bar for each step, with blanks where nothing was measured", async (t) => {
  const unknown = [null, null, null, null];
  const series = {
    ...{ gpu_util: [0, 50, null, 100], cpu_util: [0.25, 0.5, null, 1], memory_bytes: [1e9, 2e9, null, 4e9] },
    ...{ gpu_memory_bytes: unknown, gpu_temperature: unknown, gpu_power_watts: unknown, disk_bytes: unknown },
    ...{ net_in_bytes_per_second: unknown, net_out_bytes_per_second: unknown },
  };
  const steps = { resolution_seconds: 60, from: 1_800_000_000, to: 1_800_000_240, times: [] };
  const body = { success: true, ...steps, series, maxima: series, gpus: [] };
  const { received, berth } = await answer(t, { "GET /api/v0/instances/3/measurements/": { body } });
  assert.deepEqual((await berth("measurements", "3", "--hours", "6")).stdout.trimEnd().split("\n"), [
    "2027-01-15 08:00 to 2027-01-15 08:04 UTC",
    "GPU             ▁▅ █  100 %, highest 100 %",
    "CPU             ▃▅ █  100 %, highest 100 %",
    "memory          ▃▅ █  4.0 GB, highest 4.0 GB",
  ]);
  assert.match(received[0]?.[0] ?? "", /^GET \/api\/v0\/instances\/3\/measurements\/\?from=\d+$/);
});

test("events are printed as a log: the newest last", async (t) => {
  const event = (at: number, to: string) => ({ at, actor: "market", cause: "c", from: "running", to, message: "M." });
  const body = { success: true, events: [event(60, "yielding"), event(0, "starting")] };
  const { received, berth } = await answer(t, { "GET /api/v0/instances/3/events/": { body } });
  assert.deepEqual((await berth("events", "3", "--limit", "2")).stdout.split("\n").slice(1), [
    "1970-01-01 00:00:00  market  running  starting  M.",
    "1970-01-01 00:01:00  market  running  yielding  M.",
    "",
  ]);
  assert.deepEqual(JSON.parse((await berth("events", "3", "--json")).stdout), body);
  assert.deepEqual(received[0], ["GET /api/v0/instances/3/events/?limit=2", undefined]);
});

const request = {
  id: 5,
  status: "open",
  reason: "",
  position: 2,
  q: { q: "num_gpus=8" },
  max_dph: 3,
  price: null,
  image: "busybox",
  template_hash_id: null,
  disk: 8,
  label: null,
  created_at: 0,
  expires_at: 86_400,
  attempted_at: null,
  closed_at: null,
  instance_id: null,
  offers_matching: 0,
  offers_at_any_price: 4,
  cheapest_dph: 3.25,
};

test("requests are added, listed, shown with what there is for them, and cancelled", async (t) => {
  const path = "/api/v0/standing_requests/";
  const { received, berth } = await answer(t, {
    [`POST ${path}`]: { body: { success: true, id: 5, position: 2, expires_at: 86_400 } },
    [`GET ${path}`]: { body: { success: true, standing_requests: [request] } },
    [`GET ${path}5/`]: { body: { success: true, standing_request: request } },
    [`DELETE ${path}5/`]: { body: { success: true, msg: "Request 5 waits no more." } },
  });
  const added = await berth("queue", "add", "num_gpus=8", "--image", "busybox", "--max-price", "3", "--hours", "0.5");
  assert.equal(
    added.stdout,
    "Request 5 is number 2 in the queue until 1970-01-02 00:00 UTC. See: berth queue show 5\n",
  );
  assert.match((await berth("queue", "list")).stdout, /\n +5 +open +2 +num_gpus=8 +at most \$3\.00 +busybox /);
  assert.match(
    (await berth("queue", "show", "5")).stdout,
    /offers +0 now within the price, 4 at any.*\$3\.25 per hour/,
  );
  assert.deepEqual(JSON.parse((await berth("queue", "show", "5", "--json")).stdout), request);
  assert.equal((await berth("queue", "cancel", "5")).stdout, "Request 5 waits no more.\n");
  const body = { image: "busybox", q: "num_gpus=8", max_dph: 3, expires_in_hours: 0.5 };
  assert.deepEqual(received[0], [`POST ${path}`, body]);
});

test("deposits and price increases are shown in dollars an hour", async (t) => {
  const asked = {
    pending_price_increase_id: 4,
    contract_id: 3,
    host_id: 1,
    old_gpu_costpersec: 0.3 / 3600,
    new_gpu_costpersec: 0.35 / 3600,
    old_disk_ram_costpersec: 0.01 / 3600,
    new_disk_ram_costpersec: null,
    old_bwu_cost: 0.02,
    new_bwu_cost: 0.02,
    old_bwd_cost: 0,
    new_bwd_cost: null,
    contract_end_date: 0,
    ask_end_date: 86_400,
  };
  const deposit = {
    success: true,
    refundable_deposit: 212.4,
    total_discount: 72,
    discount_months: 0.5,
    deposit: 288,
    discount_rate: 0.2,
  };
  const answered = { success: true, pending_price_increase_id: 4, contract_id: 3 };
  const { received, berth } = await answer(t, {
    "PUT /api/v0/instances/prepay/3/": { body: { success: true, timescale: 1, discount_rate: 0.2, deposit: 576 } },
    "GET /api/v0/instances/balance/3/": { body: deposit },
    "GET /api/v0/instances/pending-price-increases/": { body: { pending_price_increases: [asked] } },
    "PUT /api/v0/instances/accept-price-increase/": { body: answered },
    "PUT /api/v0/instances/reject-price-increase/": { body: answered },
  });
  assert.match((await berth("prepay", "3", "576")).stdout, /20 % off for 1\.00 months.*\$576\.00.*berth deposit 3/);
  assert.match((await berth("deposit", "3")).stdout, /back if destroyed now +\$212\.40\n/);
  assert.match((await berth("price-increase", "list")).stdout, / 4 +3 +\$0\.30 -> \$0\.35 +\$0\.01 +\$0\.02 +\$0\.00 /);
  assert.match((await berth("price-increase", "accept", "4")).stdout, /^Instance 3 goes on/);
  assert.match((await berth("price-increase", "reject", "4")).stdout, /^Instance 3 keeps its price/);
  assert.deepEqual(
    received.flatMap(([, body]) => (body === undefined ? [] : [body])),
    [{ amount: 576 }, { pending_price_increase_id: 4 }, { pending_price_increase_id: 4 }],
  );
});

test("gpus shows supply and prices of the market", async (t) => {
  const figures = (available: number, median: number | null) => ({ available, median, p10: median, p90: median });
  const gpus = [{ gpu_name: "RTX 4090", now: figures(12, 0.35), day_ago: figures(0, null) }];
  const { berth } = await answer(t, {
    "GET /api/v0/gpu_prices/": { body: { success: true, sampled_at: 0, gpus } },
    "GET /api/v0/metrics/gpu/current/": { body: { success: true, needs_machine: true } },
  });
  assert.match(
    (await berth("gpus")).stdout,
    /\nRTX 4090 +12 +\$0\.35 +\$0\.35 +\$0\.35 +- +-\nSeen 1970-01-01 00:00 UTC/,
  );
  assert.deepEqual(JSON.parse((await berth("gpus", "--json")).stdout).gpus, gpus);
  const supply = await berth("gpus", "--supply");
  assert.deepEqual([supply.code, supply.stdout], [1, ""]);
});

test("a wrong command about the market ends with code 2 before any request", async (t) => {
  const { received, berth } = await answer(t, {});
  const mistakes: readonly (readonly [string, RegExp])[] = [
    ["search --interruptible --reserved", /cannot be combined/],
    ["search --storage -1", /number above 0/],
    ["launch num_gpus=1", /--image or --template/],
    ["queue add --image x", /--max-price/],
    ["queue add --image x --max-price free", /number above 0/],
    ["queue add --image x --max-price 1 --stopped", /unknown option '--stopped'/],
    ["queue show x", /whole number/],
    ["bid 3 0", /number above 0/],
    ["events 3 --limit 0", /whole number/],
    ["prepay 3 -- -5", /number above 0/],
    ["price-increase accept", /missing required argument/],
  ];
  await Promise.all(
    mistakes.map(async ([line, reason]) => {
      const { code, stdout, stderr } = await berth(...line.split(" "));
      assert.deepEqual([code, stdout], [2, ""], line);
      assert.match(stderr, reason);
    }),
  );
  assert.deepEqual(received, []);
});
