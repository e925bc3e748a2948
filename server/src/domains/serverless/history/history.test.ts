import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { testApp } from "../../../../../test/support/app.ts";
import { aFleet, anAutoscaler, decideNow, rentUpTo } from "../../../../../test/support/serverless/workers.ts";

const secret = randomBytes(32);

test("the history of an endpoint has its traffic, its workers by state and its decisions, step by step", async (t) => {
  const world = await testApp(t, { secret });
  const [owner, stranger] = [await world.caller(), await world.caller()];
  await world.host({ gpus: 1 });
  const fleet = await aFleet(world, owner);
  const url = `/api/v0/endptjobs/${fleet.endpointId}/history/`;
  const ask = async (query = "") => {
    const answer = await world.call({ url: `${url}${query}`, secret: owner.secret });
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const empty = await ask();
  assert.deepEqual([empty.step_s, empty.workers.ready[0], empty.load[0]], [30, null, 0]);
  const autoscaler = anAutoscaler(world, { secret, decide: rentUpTo(1) });
  const startS = Math.floor(world.clock.now().getTime() / 60_000) * 60;
  await decideNow(autoscaler, fleet);
  world.clock.jump(60_000);
  await decideNow(autoscaler, fleet);
  await world.env.pool.query(
    `insert into endpoint_load (endpoint_group_id, second_at, request_count, load, waited_count, wait_ms, wait_ms_max)
     values ($1, to_timestamp($2), 6, 120, 2, 3000, 2000)`,
    [fleet.endpointId, startS + 5],
  );
  const history = await ask(`?from=${startS}&to=${startS + 180}&step=60`);
  assert.deepEqual(history.at, [startS, startS + 60, startS + 120]);
  assert.deepEqual(
    [history.load, history.requests, history.waited, history.wait_mean, history.wait_max],
    [
      [2, 0, 0],
      [6, 0, 0],
      [2, 0, 0],
      [1.5, 0, 0],
      [2, 0, 0],
    ],
  );
  // The first decision saw no worker; the one that it rented is on its way from the second on.
  assert.deepEqual(history.workers.starting, [0, 1, 1]);
  assert.deepEqual(history.queued, [0, 0, 0]);
  assert.ok(history.cost_per_hour[0] === 0 && history.cost_per_hour[1] > 0, JSON.stringify(history.cost_per_hour));
  assert.ok(history.decisions.length >= 1 && history.decisions[0].sentence.length > 0);
  const foreign = await world.call({ url, secret: stranger.secret });
  assert.deepEqual([foreign.status, foreign.body.error], [404, "no_such_endpoint"]);
  for (const [query, field] of [
    ["?from=20&to=10", "from"],
    ["?from=0&to=100000&step=1", "step"],
    ["?step=0", "step"],
    ["?from=x", "from"],
  ] as const) {
    const refused = await world.call({ url: `${url}${query}`, secret: owner.secret });
    assert.equal(refused.status, 400, refused.text);
    assert.match(refused.text, new RegExp(field));
  }
  await world.env.pool.query("update endpoint_fleets set at = at - interval '8 days'");
  await world.runLoop("forget-endpoint-events");
  const { rows } = await world.env.pool.query("select count(*)::integer as count from endpoint_fleets");
  assert.deepEqual(rows, [{ count: 0 }]);
});
