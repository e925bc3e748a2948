// kill -9 of server, PostgreSQL and agents while renters spend money: is each second charged once, and is the sum zero?
import { randomInt } from "node:crypto";
import { crashTable, killLine } from "../test/support/crash/report.ts";
import { ALL_KILLS, runCrashes, SEVERAL_KILLS } from "../test/support/crash/run.ts";
import { readNumbers } from "./support/arguments.ts";

const DEFAULTS = { kills: 200, seed: randomInt(1e9), servers: 1 };

export async function run(args: readonly string[]): Promise<void> {
  const { kills, seed, servers } = readNumbers(args, DEFAULTS);
  const over = servers === 1 ? "one server" : `${servers} servers over one database`;
  console.log(`${kills} times kill -9 at random moments, of ${over}, seed ${seed} (--kills, --servers, --seed)\n`);
  const tell = (news: Parameters<typeof killLine>[0]) => console.log(killLine(news, kills));
  const weights = servers === 1 ? ALL_KILLS : SEVERAL_KILLS;
  const report = await runCrashes({ seed, kills, servers, weights, tell });
  console.log(crashTable(report));
  const { problems } = report;
  if (problems.length === 0)
    return console.log("No second was lost or billed twice beyond the rules, and the sum is zero.");
  console.log(`${problems.length} things are wrong:\n  ${problems.join("\n  ")}`);
  process.exitCode = 1;
}
