import assert from "node:assert/strict";
import { test } from "node:test";
import { measureSearch } from "./search.ts";

const SMALL = { offers: 1_500, large: 2_000, rounds: 8, "control-rounds": 4 };

test("a small search benchmark runs, and table, server and PostgreSQL give the same answers", async () => {
  assert.deepEqual(await measureSearch(SMALL), []);
});

test("the audit voids the figures when PostgreSQL knows another market", async () => {
  const problems = await measureSearch({ ...SMALL, large: 0 }, async ({ database: { pool } }) => {
    await pool.query("update bench_search set dph_total = 9 where id % 2 = 0");
  });
  assert.match(problems.join("\n"), /cheapest: the table and PostgreSQL differ/);
  assert.match(problems.join("\n"), /cheapest: the server and PostgreSQL differ/);
});
