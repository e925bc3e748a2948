import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import type { TestCaller } from "../../../../../test/support/fixtures.ts";

async function anEndpoint(app: TestApp, { secret }: TestCaller): Promise<number> {
  const made = await app.call({ method: "POST", url: "/api/v0/endptjobs/", secret, body: {} });
  return Number(made.body.result);
}

const START = Date.parse("2025-12-31T23:50:00Z") / 1000;

/** Seconds after `START`, requests, load, requests that waited, and their total and longest wait. */
type Second = readonly [number, number, number, number, number, number];

async function addTraffic(app: TestApp, endpoint: number, seconds: readonly Second[]): Promise<void> {
  for (const [second, ...counts] of seconds) {
    await app.env.pool.query("insert into endpoint_load values ($1, to_timestamp($2), $3, $4, $5, $6, $7)", [
      endpoint,
      START + second,
      ...counts,
    ]);
  }
}

test("traffic is shown by period, per endpoint, and of the caller's endpoints only", async (t) => {
  const app = await testApp(t);
  const [owner, stranger] = [await app.caller(), await app.caller()];
  const [one, two, foreign] = [
    await anEndpoint(app, owner),
    await anEndpoint(app, owner),
    await anEndpoint(app, stranger),
  ];
  await addTraffic(app, one, [
    [0, 2, 60, 0, 0, 0],
    [59, 4, 60, 2, 3_000, 2_500],
    [60, 1, 6, 0, 0, 0],
  ]);
  await addTraffic(app, two, [[5, 1, 12, 1, 500, 500]]);
  await addTraffic(app, foreign, [[5, 1, 12, 1, 500, 500]]);
  const ask = (body: object, secret = owner.secret) =>
    app.call({ method: "POST", url: "/api/v0/serverless/metrics/", secret, body });
  const { status, body } = await ask({});
  assert.equal(status, 200);
  assert.deepEqual(body.rows, [
    { endpoint_id: one, at: START, requests: 6, load: 2, waited: 2, wait_mean: 1.5, wait_max: 2.5 },
    { endpoint_id: one, at: START + 60, requests: 1, load: 0.1, waited: 0, wait_mean: 0, wait_max: 0 },
    { endpoint_id: two, at: START, requests: 1, load: 0.2, waited: 1, wait_mean: 0.5, wait_max: 0.5 },
  ]);
  const pointsOf = (values: readonly number[]) =>
    values.map((value, index) => ({ timestamp: START + 60 * index, value: String(value) }));
  assert.deepEqual(body.results, {
    requests: pointsOf([7, 1]),
    load: pointsOf([2.2, 0.1]),
    waited: pointsOf([3, 0]),
    wait_mean: pointsOf([3.5 / 3, 0]),
    wait_max: pointsOf([2.5, 0]),
  });
  const dates = await ask({ endpoint_id: two, start_date: START, end_date: START + 60 });
  assert.deepEqual([dates.body.start, dates.body.end, dates.body.results.requests], [START, START + 60, pointsOf([1])]);
  const narrow = await ask({ endpoint_id: two, start: START, end: START + 6, step: 1 });
  assert.deepEqual(
    narrow.body.rows.map((row: { readonly at: number }) => row.at),
    [START + 5],
  );
  assert.equal((await ask({ endpoint_id: foreign })).status, 404);
  for (const [field, bad] of [
    ["step", { step: 0 }],
    ["step", { start: 0, end: START, step: 1 }],
    ["start", { start: 5, end: 5 }],
    ["end", { end: -1 }],
  ] as const) {
    const refused = await ask(bad);
    assert.deepEqual([refused.status, refused.body.field], [400, field], refused.text);
  }
});
