import assert from "node:assert/strict";
import { test } from "node:test";
import { testDatabase } from "../../../../../test/support/database/postgres.ts";
import { systemClock } from "../../../base/clock.ts";
import { withTransaction } from "../../../db/transaction.ts";
import { keepSamples } from "./service.ts";

const START = "2026-01-01T00:00:00Z";

test("missed spans are rolled up piece by piece, and no day before all its hours", async (t) => {
  const { database, pool } = await testDatabase(t);
  // Five days of censuses: on each the number of available GPUs is the number of the hour.
  await pool.query(
    `insert into gpu_sample_runs (step_s, at)
     select 300, $1::timestamptz + make_interval(secs => 300 * n) from generate_series(0, 5 * 288 - 1) as n`,
    [START],
  );
  await pool.query(
    `insert into gpu_samples (step_s, at, gpu_name, verified, hosting, rented_count, available_count, dlperf, tflops)
     select step_s, at, 'RTX 4090', 'all', 'all', 0, extract(hour from at at time zone 'UTC'), 1, 1 from gpu_sample_runs`,
  );
  const clock = { ...systemClock, now: () => new Date("2026-01-06T00:10:00Z") };
  const rolled: number[] = [];
  for (let count = 1; count > 0; rolled.push(count)) {
    const runs = [withTransaction(database, clock, keepSamples), withTransaction(database, clock, keepSamples)];
    count = (await Promise.all(runs)).reduce((sum, run) => sum + run.rolled, 0);
    const { rows } = await pool.query("select available_count from gpu_samples where step_s = 86400");
    for (const row of rows) assert.deepEqual(row, { available_count: 11.5 });
  }
  assert.equal(
    rolled.reduce((sum, count) => sum + count, 0),
    5 * 24 + 5,
  );
  const { rows } = await pool.query(
    "select step_s, count(*)::integer as count from gpu_samples group by step_s order by step_s",
  );
  assert.deepEqual(rows, [
    { step_s: 300, count: 1440 },
    { step_s: 3600, count: 120 },
    { step_s: 86400, count: 5 },
  ]);
});
