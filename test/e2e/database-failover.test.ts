// Two servers over two PostgreSQL that Patroni keeps: the primary is killed while renters rent, pay and transfer.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Patroni } from "../support/cluster/patroni.ts";
import { failoverTable } from "../support/crash/failovers.ts";
import { crashTable, killLine } from "../support/crash/report.ts";
import { DATABASE_KILLS, runCrashes, type KillNews } from "../support/crash/run.ts";
import { TEST_SEED } from "../support/seed.ts";

const KILLS = Number(process.env["BERTH_CRASH_KILLS"] ?? 1);

describe("a PostgreSQL that fails over", () => {
  let patroni: Patroni;

  before(async () => {
    patroni = await Patroni.start({ timing: { ttl: 8, loopWait: 1, retryTimeout: 3 } });
  });
  after(async () => {
    await patroni.stop();
  });

  test(`no acknowledged write is lost and no device sold twice, over ${KILLS} deaths of the primary (seed ${TEST_SEED})`, async () => {
    const told: KillNews[] = [];
    const tell = (news: KillNews) => {
      told.push(news);
      console.log(killLine(news, KILLS));
    };
    const report = await runCrashes({
      seed: TEST_SEED,
      kills: KILLS,
      servers: 2,
      patroni,
      weights: DATABASE_KILLS,
      tell,
    });
    console.log(`${crashTable(report)}\n${failoverTable(told)}`);
    assert.deepEqual(report.problems, []);
    assert.ok(report.acknowledgedCount > KILLS, "requests were acknowledged before and after the deaths");
  });
});
