import assert from "node:assert/strict";
import { after, test } from "node:test";
import { postCharges } from "../../../../../../test/support/money/charge-lines.ts";
import { aCaller, aKey, inTransaction, type TestCaller } from "../../../../../../test/support/fixtures.ts";
import { grantOf } from "../../../../../../test/support/money/ledger.ts";
import { testDatabase } from "../../../../../../test/support/database/postgres.ts";
import { serveRoutes } from "../../../../../../test/support/network/serve.ts";
import { systemClock, type Clock } from "../../../../base/clock.ts";
import { NANOS_PER_DOLLAR } from "../../../../base/money.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import { postTransfers } from "../../ledger/index.ts";
import { spendRoutes } from "./spend-routes.ts";

const { database, pool } = await testDatabase();
const clock: Clock = { ...systemClock, now: () => new Date("2026-03-10T12:00:00Z") };
const { call, close } = await serveRoutes(database, spendRoutes, clock);
after(close);

const DOLLAR = NANOS_PER_DOLLAR;

/**
 * Workers of two endpoints, the first with two groups and an old worker without one, and an instance of no endpoint.
 */
async function aPast() {
  const [renter, host] = [await aCaller(database), await aCaller(database)];
  const then: Clock = { ...systemClock, now: () => new Date("2026-02-01T00:00:00Z") };
  await withTransaction(database, then, (tx) => postTransfers(tx, [grantOf(renter.id, 1000n * DOLLAR)]));
  await pool.query(
    "alter table endpoint_worker_names drop constraint if exists endpoint_worker_names_instance_id_fkey",
  );
  const first = renter.id * 100;
  await pool.query("insert into endpoint_worker_names select unnest($1::int[]), unnest($2::int[]), unnest($3::int[])", [
    [first, first + 1, first + 2, first + 3],
    [9, 9, 9, 10],
    [21, 22, null, 23],
  ]);
  await postCharges(database, "2026-03-01T10:00:00Z", { payer: renter.id, host: host.id }, [
    { amount: DOLLAR, instance: first },
    { component: "disk", amount: 2n, instance: first },
    { component: "bwu", amount: 3n, instance: first },
    { component: "bwd", amount: 4n, instance: first, unpaid: 5n },
    { amount: 10n * DOLLAR, instance: first + 1 },
    { amount: 100n * DOLLAR, instance: first + 2 },
    { amount: 200n * DOLLAR, instance: first + 3 },
    { amount: 300n * DOLLAR, instance: first + 4 },
    { component: "disk", amount: DOLLAR, volume: 4 },
  ]);
  return { renter, host };
}

async function spendOf(as: TestCaller, of: "endpoints" | "workergroups", query = "") {
  const answer = await call("GET", `/api/v0/serverless/${of}/spend${query}`, { as });
  assert.equal(answer.status, 200, answer.text);
  return answer.body as {
    readonly total: string;
    readonly start: number;
    readonly end: number;
    readonly results: readonly Readonly<Record<string, unknown>>[];
  };
}

test("the spending of endpoints adds up, by endpoint and by worker group, without other instances", async () => {
  const { renter, host } = await aPast();
  const endpoints = await spendOf(renter, "endpoints");
  assert.deepEqual(
    endpoints.results.map((row) => [row["endpoint_id"], row["amount_exact"], row["worker_count"]]),
    [
      [9, "111.000000009", 3],
      [10, "200", 1],
    ],
  );
  assert.equal(endpoints.total, "311.000000009");
  const groups = await spendOf(renter, "workergroups");
  assert.equal(groups.total, endpoints.total);
  assert.deepEqual(
    groups.results.map((row) => [row["endpoint_id"], row["workergroup_id"], row["amount_exact"]]),
    [
      [9, undefined, "100"],
      [9, 21, "1.000000009"],
      [9, 22, "10"],
      [10, 23, "200"],
    ],
  );
  const [, parts] = groups.results;
  assert.deepEqual(
    [parts?.["gpu"], parts?.["disk"], parts?.["bandwidth"], parts?.["unpaid"]],
    ["1", "0.000000002", "0.000000007", "0.000000005"],
  );
  assert.deepEqual((await spendOf(host, "endpoints")).results, []);
});

test("the default span is the last thirty days", async () => {
  const { renter } = await aPast();
  const { start, end } = await spendOf(renter, "endpoints");
  assert.deepEqual([end, end - start], [Date.parse("2026-03-10T12:00:00Z") / 1000, 30 * 86_400]);
  const before = `?start=0&end=${Date.parse("2026-03-01T09:00:00Z") / 1000 - 300_000_000}`;
  for (const query of [before.replace("start=0", "start=1200000000"), `?start=${end - 86_400}`]) {
    assert.deepEqual((await spendOf(renter, "workergroups", query)).results, [], query);
  }
  for (const [query, field] of [
    ["?start=5&end=5", "start"],
    ["?start=-1", "start"],
    ["?end=1e15", "end"],
    ["?start=0", "start"],
  ]) {
    const { status, body } = await call("GET", `/api/v0/serverless/endpoints/spend/${query}`, { as: renter });
    assert.deepEqual([status, body["field"]], [400, field], query);
  }
});

test("users with the permission for the account read its spending", async () => {
  const { renter } = await aPast();
  const narrow = await inTransaction(database, (tx) => aKey(tx, renter, { permissions: { api: { misc: {} } } }));
  for (const kind of ["endpoints", "workergroups"]) {
    const path = `/api/v0/serverless/${kind}/spend/`;
    assert.equal((await call("GET", path)).status, 401);
    assert.equal((await call("GET", path, { as: { secret: narrow.secret } })).status, 403);
  }
});
