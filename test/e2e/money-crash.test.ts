// kill -9 of server, PostgreSQL and agents while renters spend money: no second is lost or billed twice.
import assert from "node:assert/strict";
import { test } from "node:test";
import { crashTable, killLine } from "../support/crash/report.ts";
import { QUICK_KILLS, runCrashes } from "../support/crash/run.ts";
import { TEST_SEED } from "../support/seed.ts";

const KILLS = Number(process.env["BERTH_CRASH_KILLS"] ?? 3);

test(`every second that ran is charged once, over ${KILLS} kills under load (seed ${TEST_SEED})`, async () => {
  console.log(`seed ${TEST_SEED} (BERTH_TEST_SEED, BERTH_CRASH_KILLS)`);
  const tell = (news: Parameters<typeof killLine>[0]) => console.log(killLine(news, KILLS));
  const report = await runCrashes({ seed: TEST_SEED, kills: KILLS, weights: QUICK_KILLS, tell });
  console.log(crashTable(report));
  assert.deepEqual(report.problems, []);
});
