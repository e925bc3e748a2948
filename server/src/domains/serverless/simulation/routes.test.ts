import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import type { TestCaller } from "../../../../../test/support/fixtures.ts";
import {
  aFleet,
  anAutoscaler,
  bringUp,
  decideNow,
  rentUpTo,
  workersOf,
} from "../../../../../test/support/serverless/workers.ts";
import { readPast } from "./span.ts";

const worker = { perf: 100, price_per_hour: 1, storage_per_hour: 0.01, first_start_s: 120, warm_start_s: 20 };
/** A request of 50 units each second, for ten minutes. */
const trace = Array.from({ length: 600 }, (_, second) => [second, 50]);

async function anEndpoint(world: TestApp, { secret }: TestCaller, body: object = {}): Promise<number> {
  const url = "/api/v0/endptjobs/";
  const made = await world.call({
    method: "POST",
    url,
    secret,
    body: { min_load: 1, cold_workers: 1, max_workers: 4, ...body },
  });
  return Number(made.body.result);
}

function simulate(world: TestApp, { secret }: TestCaller, endpoint: number, body: object) {
  return world.call({ method: "POST", url: `/api/v0/endptjobs/${endpoint}/simulate/`, secret, body });
}

/** Adds this many requests a second, in each second of [from, until) before now. */
async function addTraffic(
  world: TestApp,
  endpoint: number,
  { fromS, untilS, count }: { readonly fromS: number; readonly untilS: number; readonly count: number },
): Promise<void> {
  await world.env.pool.query(
    `insert into endpoint_load (endpoint_group_id, second_at, request_count, load)
     select $1, $2::timestamptz - make_interval(secs => ago), $3, $3 * 50 from generate_series($4::integer, $5) ago`,
    [endpoint, world.clock.now(), count, untilS + 1, fromS],
  );
}

test("parameters equal to the present ones give the same figures, every time", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const endpoint = await anEndpoint(world, owner);
  const first = await simulate(world, owner, endpoint, { trace, worker });
  assert.equal(first.status, 200, first.text);
  assert.deepEqual(first.body["present"], first.body["proposed"]);
  const second = await simulate(world, owner, endpoint, { trace, worker, max_workers: 4 });
  assert.deepEqual(second.body, first.body);
  const other = await simulate(world, owner, endpoint, { trace, worker, cold_workers: 3 });
  assert.deepEqual(other.body["present"], first.body["present"]);
  assert.notDeepEqual(other.body["proposed"], first.body["proposed"]);
});

test("the cost and the waits of a trace are given in figures and in a sentence", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const endpoint = await anEndpoint(world, owner);
  // One worker that is always running does one request after the other: half of the time it is idle.
  const steady = { min_load: 100, cold_workers: 1, max_workers: 1 };
  const lone = [...Array.from({ length: 3_600 }, (_, second) => [second, 50]), [3_600, 50]];
  const { status, body, text } = await simulate(world, owner, endpoint, { trace: lone, worker, ...steady });
  assert.equal(status, 200, text);
  assert.deepEqual(body["proposed"], {
    ...{ requests: 3_601, unserved: 0, late_share: 0, wait_p50: 0, wait_p95: 0, wait_p99: 0 },
    ...{ hot_hours: 1, cold_hours: 0, cost: 1, cost_per_1000_requests: 0.277700638 },
    ...{ workers_max: 1, starts: 0, stops: 0, flaps: 0 },
  });
  assert.match(
    String(body["sentence"]),
    /^The proposed parameters would have cost \$1 instead of \$[\d.]+, and 0 % of requests instead of [\d.]+ % would have waited longer than a second\.$/,
  );
  assert.deepEqual(body["worker"], { ...worker, parallel_requests: 1 });
});

test("an endpoint's own past is replayed, counted from its requested beginning and paid to its end", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const endpoint = await anEndpoint(world, owner, { min_load: 100, cold_workers: 1, max_workers: 1 });
  await addTraffic(world, endpoint, { fromS: 7_000, untilS: 3_000, count: 1 });
  const now = world.clock.now().getTime() / 1_000;
  const { status, body, text } = await simulate(world, owner, endpoint, { from: now - 3_600, worker });
  assert.equal(status, 200, text);
  assert.deepEqual([body["from"], body["to"], body["decided_every"]], [now - 3_600, now, 1]);
  const { requests, cost, hot_hours: hours } = body["present"];
  assert.deepEqual([requests, cost, hours], [600, 1, 1]);
  assert.deepEqual(readPast({}, now * 1_000), { fromMs: (now - 86_400) * 1_000, untilMs: now * 1_000 });
  const quiet = await simulate(world, owner, endpoint, {
    worker,
    from: now - 2_000,
    to: now - 1_000,
    max_queue_time: 9,
  });
  assert.match(String(quiet.body["sentence"]), /cost \$0\.2778 instead of \$0\.2778; no request came\.$/);
  assert.equal(quiet.body["present"].cost_per_1000_requests, null);
});

test("without a description of workers the measured ones count, and without either the missing fields are named", async (t) => {
  const secret = randomBytes(32);
  const world = await testApp(t, { secret });
  const owner = await world.caller();
  const fleet = await aFleet(world, owner);
  const unknown = await simulate(world, owner, fleet.endpointId, { trace, worker: { perf: 5 } });
  assert.deepEqual(
    [unknown.status, unknown.body["error"], unknown.body["field"], unknown.body["missing"]],
    [400, "no_measured_worker", "worker", ["price_per_hour", "storage_per_hour", "first_start_s"]],
  );
  const host = await world.host({ gpus: 1 });
  await decideNow(anAutoscaler(world, { secret, decide: rentUpTo(1) }), fleet);
  await host.synced();
  const [rented] = await workersOf(world, fleet);
  assert.ok(rented);
  world.clock.advance(2_000);
  await bringUp(world, host, [rented.instance_id]);
  const { status, body, text } = await simulate(world, owner, fleet.endpointId, { trace, worker: { warm_start_s: 7 } });
  assert.equal(status, 200, text);
  const { perf, price_per_hour: price, storage_per_hour: storage, first_start_s: first } = body["worker"];
  assert.deepEqual([perf, first, body["worker"].warm_start_s], [100, 2, 7]);
  assert.ok(storage > 0 && price > 0.3 && price < 0.31 + storage, text);
});

test("another user's endpoint does not exist for the caller, and a wrong field is named", async (t) => {
  const world = await testApp(t);
  const [owner, stranger] = [await world.caller(), await world.caller()];
  const endpoint = await anEndpoint(world, owner);
  const foreign = await simulate(world, stranger, endpoint, { trace, worker });
  assert.deepEqual([foreign.status, foreign.body["error"]], [404, "no_such_endpoint"]);
  assert.equal((await simulate(world, owner, 0, { trace, worker })).status, 404);
  const now = world.clock.now().getTime() / 1_000;
  const mistakes: readonly [object, RegExp][] = [
    [{ trace: [[1, -1]] }, /^trace\[0\]: the cost must be from 0 /],
    [{ trace: [[1, 1e300]] }, /^trace\[0\]: the cost must be from 0 /],
    [{ trace: [[-1, 1]] }, /^trace\[0\]: seconds must be 0 or more/],
    [
      {
        trace: [
          [5, 1],
          [4, 1],
        ],
      },
      /^trace\[1\]: seconds must not be less/,
    ],
    [
      {
        trace: [
          [0, 1],
          [604_801, 1],
        ],
      },
      /^trace\[1\]: a trace lasts seven days/,
    ],
    [{ trace: [[0, null]] }, /^trace\.0\.1 must be number/],
    [{ trace: [[0, 1, 2]] }, /^trace\.0 /],
    [{ trace: [] }, /^trace /],
    [{ trace: Array.from({ length: 50_001 }, () => [0, 1]) }, /^trace /],
    [{ trace, from: now - 60 }, /^trace has times of its own/],
    [{ from: now }, /^from must/],
    [{ from: 1e300, to: now }, /^from must/],
    [{ to: now + 3_600 }, /^to must/],
    [{ from: now - 8 * 86_400 }, /^from: traffic is kept for seven days/],
    [{ trace, max_workers: 0 }, /^max_workers must/],
    [{ trace, target_util: 1e300 }, /^target_util must/],
    [
      { trace, max_workers: 2_000_000_000, cold_workers: 2_000_000_000 },
      /^max_workers: .* at most 1000 can be simulated/,
    ],
    [{ trace, worker: { ...worker, perf: 0 } }, /^worker\.perf must/],
    [{ trace, worker: { ...worker, price_per_hour: -1 } }, /^worker\.price_per_hour must/],
  ];
  for (const [body, message] of mistakes) {
    const { status, body: said, text } = await simulate(world, owner, endpoint, { worker, ...body });
    assert.equal(status, 400, text);
    assert.match(String(said["msg"]), message);
  }
  const url = `/api/v0/endptjobs/${endpoint}/simulate/`;
  for (const number of ["1e999", "NaN"]) {
    const sent = `{"trace":[[0,${number}]],"worker":${JSON.stringify(worker)}}`;
    const answer = await fetch(`http://${world.origin}${url}`, {
      method: "POST",
      headers: { authorization: `Bearer ${owner.secret}`, "content-type": "application/json" },
      body: sent,
    });
    assert.equal(answer.status, 400);
  }
});

test("a past with more requests than can be simulated is refused with advice", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const endpoint = await anEndpoint(world, owner);
  await addTraffic(world, endpoint, { fromS: 12_000, untilS: 0, count: 90 });
  const { status, body } = await simulate(world, owner, endpoint, { worker });
  assert.deepEqual([status, body["error"], body["field"]], [400, "simulation_too_long", "from"]);
  assert.match(String(body["msg"]), /take a shorter period$/);
});
