// kill -9 of the server, and of others, while endpoints rent, drain, update and lose workers and their clients wait.
import assert from "node:assert/strict";
import { test } from "node:test";
import { runFleetCrashes } from "../support/crash/fleet.ts";
import { TEST_SEED } from "../support/seed.ts";

const KILLS = Number(process.env["BERTH_CRASH_KILLS"] ?? 5);

test(`each request is served once, no worker is too many, unpaid or forgotten, over ${KILLS} kills (seed ${TEST_SEED})`, async () => {
  console.log(`seed ${TEST_SEED} (BERTH_TEST_SEED, BERTH_CRASH_KILLS)`);
  const report = await runFleetCrashes({ seed: TEST_SEED, kills: KILLS, servers: 2, tell: console.log });
  const { problems, endpointCount, workerCount, requestCount, servedCount, causes, auditWord } = report;
  console.log(
    Object.entries(causes)
      .map(([cause, count]) => `${count} × ${cause}`)
      .join(", "),
  );
  console.log(
    `${endpointCount} endpoints, ${workerCount} workers, ${servedCount} of ${requestCount} requests served; ${auditWord}`,
  );
  assert.deepEqual(problems, []);
  assert.ok(servedCount > 0);
});
