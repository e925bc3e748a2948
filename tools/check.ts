// `./berth check`: the quick checks of what has changed, while one writes. `./berth test` makes them of everything.
import { existsSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { systemClock } from "../server/src/base/clock.ts";
import { findChange } from "./changed-files.ts";
import { changeChecks, showChecks, startChecks } from "./static-checks.ts";

const ROOT = path.join(import.meta.dirname, "..");
const USAGE = `Usage: berth check [--since COMMIT | --all | FILE…]

Format, lint and imports of the files that differ from the main branch, committed or not, the types of the whole tree,
and the house rules. With --since: that differ from where this branch left COMMIT. With files: of those alone.`;

/** The files to check and how to call them; files are undefined for the whole tree. */
type Scope = { readonly files: readonly string[] | undefined; readonly name: string };

function readScope(args: readonly string[]): Scope | undefined {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { all: { type: "boolean" }, since: { type: "string" }, help: { type: "boolean", short: "h" } },
    allowPositionals: true,
  });
  if (values.help === true) return undefined;
  if (values.all === true) return { files: undefined, name: "the whole tree" };
  if (positionals.length > 0) {
    const missing = positionals.find((file) => !existsSync(file));
    if (missing !== undefined) throw new Error(`there is no file ${missing}`);
    const files = positionals.map((file) => path.relative(ROOT, path.resolve(file)));
    return { files, name: describeCount(files.length) };
  }
  const change = findChange(ROOT, values.since);
  if (change === undefined) return { files: undefined, name: "the whole tree, since this is no git checkout" };
  return { files: change.files, name: `${describeCount(change.files.length)} changed since ${change.base}` };
}

function describeCount(count: number): string {
  return count === 1 ? "1 file" : `${count} files`;
}

async function main(): Promise<boolean> {
  const start = systemClock.monotonicMs();
  const scope = readScope(process.argv.slice(2));
  if (scope === undefined) {
    console.log(USAGE);
    return true;
  }
  const isFine = await showChecks(startChecks(changeChecks(ROOT, scope.files)));
  const seconds = ((systemClock.monotonicMs() - start) / 1000).toFixed(1);
  console.log(`${isFine ? "Fine" : "NOT fine"}: ${scope.name}, in ${seconds} s.`);
  return isFine;
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  console.error(`berth check: ${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  process.exitCode = 2;
}
