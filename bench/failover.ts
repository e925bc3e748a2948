// The primary PostgreSQL is killed again and again while renters spend money: is anything lost, and how soon is the next write?
import { randomInt } from "node:crypto";
import { Patroni } from "../test/support/cluster/patroni.ts";
import { failoverTable } from "../test/support/crash/failovers.ts";
import { crashTable, killLine } from "../test/support/crash/report.ts";
import { DATABASE_KILLS, runCrashes, type KillNews } from "../test/support/crash/run.ts";
import { readNumbers } from "./support/arguments.ts";

export async function run(args: readonly string[]): Promise<void> {
  const { kills, seed, servers } = readNumbers(args, { kills: 50, seed: randomInt(1e9), servers: 2 });
  console.log(`${kills} deaths of PostgreSQL under ${servers} servers, seed ${seed} (--kills, --servers, --seed)\n`);
  const patroni = await Patroni.start({ etcdCount: 3 });
  const told: KillNews[] = [];
  const tell = (news: KillNews) => {
    told.push(news);
    console.log(killLine(news, kills));
  };
  try {
    const report = await runCrashes({ seed, kills, servers, patroni, weights: DATABASE_KILLS, tell });
    console.log(`${crashTable(report)}\n${failoverTable(told)}\n`);
    if (report.problems.length === 0) return console.log("No acknowledged write was lost, and no answer was wrong.");
    console.log(`${report.problems.length} things are wrong:\n  ${report.problems.join("\n  ")}`);
    process.exitCode = 1;
  } finally {
    await patroni.stop();
  }
}
