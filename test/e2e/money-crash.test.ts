// kill -9 of server, PostgreSQL and agents while renters spend money: no second is lost or billed twice.
import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { crashTable, killLine } from "../support/crash-report.ts";
import { QUICK_KILLS, runCrashes } from "../support/crash-run.ts";

const SEED = Number(process.env["BERTH_CRASH_SEED"] ?? randomInt(1e9));
const KILLS = Number(process.env["BERTH_CRASH_KILLS"] ?? 5);

test(`every second that ran is charged once, over ${KILLS} kills under load (seed ${SEED})`, async () => {
  console.log(`seed ${SEED} (BERTH_CRASH_SEED, BERTH_CRASH_KILLS)`);
  const tell = (news: Parameters<typeof killLine>[0]) => console.log(killLine(news, KILLS));
  const report = await runCrashes({ seed: SEED, kills: KILLS, weights: QUICK_KILLS, tell });
  console.log(crashTable(report));
  assert.deepEqual(report.problems, []);
});
