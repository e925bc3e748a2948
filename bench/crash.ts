// kill -9 of server, PostgreSQL and agents while renters spend money: is each second charged once, and is the sum zero?
import { randomInt } from "node:crypto";
import { crashTable, killLine } from "../test/support/crash-report.ts";
import { ALL_KILLS, runCrashes } from "../test/support/crash-run.ts";
import { readNumbers } from "./support/arguments.ts";

const DEFAULTS = { kills: 200, seed: randomInt(1e9) };

export async function run(args: readonly string[]): Promise<void> {
  const { kills, seed } = readNumbers(args, DEFAULTS);
  console.log(`${kills} times kill -9 at random moments, seed ${seed} (--kills, --seed)\n`);
  const tell = (news: Parameters<typeof killLine>[0]) => console.log(killLine(news, kills));
  const report = await runCrashes({ seed, kills, weights: ALL_KILLS, tell });
  console.log(crashTable(report));
  const { problems } = report;
  if (problems.length === 0)
    return console.log("No second was lost or billed twice beyond the rules, and the sum is zero.");
  console.log(`${problems.length} things are wrong:\n  ${problems.join("\n  ")}`);
  process.exitCode = 1;
}
