// `./berth test`: everything that proves the project, in order, up to the first step that fails. With files or folders as
// arguments only those tests and the tests below those folders run, each time with other random cases, and the quick
// checks of these files. The last line of stdout is always `N passed, N failed`.
import { randomInt } from "node:crypto";
import { globSync, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { systemClock } from "../server/src/base/clock.ts";
import { FRESH_DATA_VARIABLE, makeFreshData } from "../test/support/database/fresh-data.ts";
import { startTestPostgres, TEST_POSTGRES_VARIABLE } from "../test/support/database/postgres-server.ts";
import { ensureDebianPackages } from "./debian-packages.ts";
import { fileChecks, showChecks, startChecks, wholeTreeChecks, type Check } from "./static-checks.ts";
import { seedOfSources, TEST_SEED_VARIABLE } from "./test-seed.ts";
import { describeCounts, isGreen, NO_TESTS, runLanes, withFailure, type Counts, type TestRun } from "./test-run.ts";

const ROOT = path.join(import.meta.dirname, "..");
const ROOMS = ["protocol", "tunnel", "server", "agent", "sdk", "worker", "cli", "console", "bench", "tools"];
/**
 * For one test. Only a hang takes so long: the month takes half a minute of a processor for itself and twenty times as
 * long on a slow one that ten other programs share.
 */
const TIMEOUT_MS = 1_200_000;
const END_TO_END_AT_ONCE = 3;
/**
 * Rooms whose files may share a process with others of the same room. To load the server and to assemble it for the first
 * time takes two seconds of processor time, which is more than most of these files take for themselves.
 */
const SHARED_ROOMS = ["server/src/", "agent/src/", "cli/src/", "worker/src/", "bench/", "test/authz/"];
const FILES_PER_PROCESS = 36;
/** End-to-end tests that may share a process: those of the console share a browser then. */
const SHARED_END_TO_END = ["test/console/"];
const END_TO_END_PER_PROCESS = 8;

type Step = { readonly name: string; run(): boolean | Promise<boolean> };

const checks: readonly Step[] = [
  { name: "system packages", run: preparePackages },
  ...wholeTreeChecks(ROOT).map(({ name, run }) => ({ name, run: () => showOutput(run) })),
];

let counts: Counts = NO_TESTS;

function testStep(lanes: readonly TestRun[]): Step {
  return {
    name: "tests",
    async run() {
      console.log(`seed ${process.env[TEST_SEED_VARIABLE]} (${TEST_SEED_VARIABLE})`);
      counts = await runLanes(lanes);
      return isGreen(counts);
    },
  };
}

function testLanes(files: readonly string[]): readonly TestRun[] {
  const concurrency = os.availableParallelism();
  // Backwards, since the longest are in test/ and tools/: in the end no processor waits for one of them.
  const all = files.toReversed();
  const isEndToEnd = (file: string) => /^test\/(console|e2e|simulation)\//.test(file) || file.endsWith(".e2e.test.ts");
  const unit = all.filter((file) => !isEndToEnd(file));
  const endToEnd = all.filter(isEndToEnd);
  // Beside each other, since end-to-end tests wait for containers and other programs half of their time.
  return [
    { groups: groupByRoom(unit, SHARED_ROOMS, FILES_PER_PROCESS), concurrency, timeoutMs: TIMEOUT_MS },
    {
      groups: groupByRoom(endToEnd, SHARED_END_TO_END, END_TO_END_PER_PROCESS),
      concurrency: END_TO_END_AT_ONCE,
      timeoutMs: TIMEOUT_MS,
    },
  ].filter(({ groups }) => groups.length > 0);
}

/** Groups of at most so many test files of one shared room; every other file is alone. Keeps the order. */
function groupByRoom(
  files: readonly string[],
  sharedRooms: readonly string[],
  filesMax: number,
): readonly (readonly string[])[] {
  const groups: string[][] = [];
  for (const file of files) {
    const last = groups.at(-1) ?? [];
    const room = sharedRooms.find((prefix) => file.startsWith(prefix));
    const isSameRoom = room !== undefined && last[0]?.startsWith(room) === true;
    if (isSameRoom && !isAlone(file) && !last.some(isAlone) && last.length < filesMax) last.push(file);
    else groups.push([file]);
  }
  return groups;
}

/** Tests of the embedded PostgreSQL start and kill servers of their own. */
function isAlone(file: string): boolean {
  return file.startsWith("server/src/db/embedded/");
}

/** Files of this name below the folders, from the root of the repository. */
function findFiles(name: string, folders: readonly string[] = [...ROOMS, "test"]): readonly string[] {
  const patterns = folders.map((folder) => path.join(folder, "**", name));
  return globSync(patterns, { cwd: ROOT, exclude: ["**/node_modules/**"] }).toSorted();
}

/** An argument that names nothing to run. */
class UsageError extends Error {}

/** Tests to run and sources to check below the given paths, from the root. Throws for a path without a test. */
function findGiven(given: readonly string[]): {
  readonly tests: readonly string[];
  readonly sources: readonly string[];
} {
  const tests = new Set<string>();
  const sources = new Set<string>();
  for (const argument of given) {
    const stat = statSync(argument, { throwIfNoEntry: false });
    if (stat === undefined) throw new UsageError(`no such file or folder: ${argument}`);
    const place = path.relative(ROOT, path.resolve(argument));
    const below = (name: string) => (stat.isDirectory() ? findFiles(name, [place]) : [place]);
    const found = below("*.test.ts");
    if (found.length === 0) throw new UsageError(`no test below ${argument}`);
    for (const file of found) tests.add(file);
    for (const file of below("*.{ts,tsx}")) sources.add(file);
  }
  return { tests: [...tests], sources: [...sources] };
}

function preparePackages(): boolean {
  try {
    ensureDebianPackages((line) => console.log(line));
    return true;
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return false;
  }
}

/** Prints the whole output of a check, also when it found nothing. */
async function showOutput(run: Check["run"]): Promise<boolean> {
  const { isFine, output } = await run();
  process.stdout.write(output);
  return isFine;
}

async function runStep(step: Step): Promise<boolean> {
  console.log(`── ${step.name}`);
  const start = systemClock.monotonicMs();
  const isFine = await step.run();
  const seconds = ((systemClock.monotonicMs() - start) / 1000).toFixed(1);
  console.log(`── ${step.name}: ${isFine ? "ok" : "FAILED"} (${seconds} s)\n`);
  return isFine;
}

async function main(given: readonly string[]): Promise<boolean> {
  const isWhole = given.length === 0;
  const { tests, sources } = findGiven(given);
  const steps = [...(isWhole ? checks : []), testStep(testLanes(isWhole ? findFiles("*.test.ts") : tests))];
  const ownFiles = sources.filter((file) => !file.startsWith(".."));
  // The checks run beside the tests and are shown after them, so that they neither delay nor hide a test's result.
  const checking = startChecks(fileChecks(ROOT, ownFiles));
  const postgres = await startTestPostgres();
  process.env[TEST_POSTGRES_VARIABLE] = postgres.superuserUrl;
  const freshData = isWhole ? await makeFreshData() : undefined;
  if (freshData !== undefined) process.env[FRESH_DATA_VARIABLE] = freshData.directory;
  const seed = isWhole ? seedOfSources(ROOT, findFiles("*.{ts,sql}")) : randomInt(2 ** 31);
  process.env[TEST_SEED_VARIABLE] ??= String(seed);
  let isFine = true;
  try {
    for (const step of steps) isFine &&= await runStep(step);
  } finally {
    await Promise.all([postgres.stop(), freshData?.remove()]);
  }
  const areFilesFine = await showChecks(checking);
  return isFine && areFilesFine;
}

let isFine = false;
try {
  isFine = await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof UsageError ? error.message : error);
}
console.log(describeCounts(isFine ? counts : withFailure(counts)));
process.exitCode = isFine ? 0 : 1;
