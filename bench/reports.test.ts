import assert from "node:assert/strict";
import { test } from "node:test";
import { measureReports } from "./reports.ts";

const SMALL = {
  ...{ endpoints: 3, workers: 12, connections: 4, rounds: 1 },
  ...{ "interval-ms": 1_000, seconds: 2, probes: 2 },
};

test("a small benchmark of reports finds all of them stored", async () => {
  assert.deepEqual(await measureReports(SMALL), []);
});

test("the audit voids the figures when something else is stored than was said", async () => {
  const [problem] = await measureReports(SMALL, (disks) => disks.splice(0, 1, 1e6));
  assert.match(problem ?? "", /^worker \d+ said .*"disk":1000000}, and .* is stored$/);
});
