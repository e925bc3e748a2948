// kill -9 of server, PostgreSQL and agents while renters spend money: no second is lost or billed twice.
import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { QUICK_KILLS, runCrashes } from "../support/crash-run.ts";

const SEED = Number(process.env["BERTH_CRASH_SEED"] ?? randomInt(1e9));
const KILLS = Number(process.env["BERTH_CRASH_KILLS"] ?? 5);

test(`every second that ran is charged once, over ${KILLS} kills under load (seed ${SEED})`, async () => {
  console.log(`seed ${SEED} (BERTH_CRASH_SEED, BERTH_CRASH_KILLS)`);
  assert.deepEqual(await runCrashes({ seed: SEED, kills: KILLS, weights: QUICK_KILLS }), []);
});
