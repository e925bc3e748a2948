// kill -9 of server, PostgreSQL and agents while renters spend money: is each second charged once, and is the sum zero?
import { randomInt } from "node:crypto";
import { ALL_KILLS, runCrashes } from "../test/support/crash-run.ts";
import { readNumbers } from "./support/arguments.ts";

const DEFAULTS = { kills: 200, seed: randomInt(1e9) };

export async function run(args: readonly string[]): Promise<void> {
  const { kills, seed } = readNumbers(args, DEFAULTS);
  console.log(`${kills} kills, seed ${seed} (--kills, --seed)`);
  const problems = await runCrashes({ seed, kills, weights: ALL_KILLS });
  if (problems.length === 0) return console.log("Nothing was lost, and nothing was billed twice.");
  console.log(`${problems.length} things are wrong:\n  ${problems.join("\n  ")}`);
  process.exitCode = 1;
}
