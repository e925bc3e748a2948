import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { run } from "node:test";
import { spec } from "node:test/reporters";

const ROOT = path.join(import.meta.dirname, "..");
/** Modules that each test process loads first, in this order. */
const PRELOADED = [
  import.meta.resolve("../test/support/untracked-promises.ts"),
  import.meta.resolve("../test/support/seed.ts"),
];

export type Counts = { readonly passed: number; readonly failed: number; readonly skipped: number };

export const NO_TESTS: Counts = { passed: 0, failed: 0, skipped: 0 };

type Write = (text: string) => void;

export type TestRun = {
  /** Groups of files, absolute or below the root of the repository. The files of one group share a process. */
  readonly groups: readonly (readonly string[])[];
  /** The number of groups that run at once. */
  readonly concurrency: number;
  /** The limit of one test; a test that takes longer fails. */
  readonly timeoutMs: number;
};

/** The result of a run: its counts, and the place of each test that failed. */
type Outcome = { readonly counts: Counts; readonly failed: readonly string[] };

/**
 * Runs test files, each group in a process of its own, and returns the runner's own counts. The report of a group comes in
 * one piece, in the order of the groups.
 */
async function runTests(lane: TestRun, write: Write): Promise<Outcome> {
  const folder = await mkdtemp(path.join(tmpdir(), "berth-test-groups-"));
  try {
    const files = await Promise.all(
      lane.groups.map((group, index) => entryOf(group, path.join(folder, `${index}.mjs`))),
    );
    return await runFiles(files, lane, write);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The file that loads a whole group: itself when it is alone, else one that is written to `place`. */
async function entryOf(group: readonly string[], place: string): Promise<string> {
  const files = group.map((file) => path.resolve(ROOT, file));
  const [only] = files;
  if (only !== undefined && files.length === 1) return only;
  await writeFile(place, files.map((file) => `import ${JSON.stringify(pathToFileURL(file).href)};\n`).join(""));
  return place;
}

async function runFiles(files: readonly string[], { concurrency, timeoutMs }: TestRun, write: Write): Promise<Outcome> {
  const stream = run({
    files,
    concurrency,
    timeout: timeoutMs,
    cwd: ROOT,
    execArgv: ["--disable-warning=ExperimentalWarning", ...PRELOADED.flatMap((module) => ["--import", module])],
  });
  let counts: Counts | undefined;
  stream.on("test:summary", (summary) => {
    if (summary.file !== undefined) return; // One per file comes before the one of the whole run.
    const { passed, cancelled, skipped, todo, tests } = summary.counts;
    // A test that neither passed nor was left out has failed, under any name that the runner gives to it.
    const leftOut = skipped + todo;
    counts = { passed, skipped: leftOut, failed: Math.max(tests - passed - leftOut, cancelled) };
  });
  const failed: string[] = [];
  let failedHookCount = 0;
  stream.on("test:fail", ({ name, file = "", line, details }) => {
    const isSuite = details.type === "suite";
    // A suite fails with its tests, which are named themselves, or by its own hooks, which the runner counts nowhere.
    if (isSuite && "failureType" in details.error && details.error.failureType === "subtestsFailed") return;
    if (isSuite) failedHookCount += 1;
    failed.push(`${path.relative(ROOT, file)}:${line ?? 0} ${name}`);
  });
  for await (const text of stream.compose(spec)) write(String(text));
  // Without a summary the run itself broke off.
  const { failed: failedCount, ...others } = counts ?? { ...NO_TESTS, failed: 1 };
  return { counts: { ...others, failed: failedCount + failedHookCount }, failed };
}

/**
 * Runs all lanes at the same time and reports them on stdout one after the other, so that what a failed test says stands
 * together: the first as it goes, and each other one when all before it have ended. What failed in any of them is named
 * once more in the end.
 */
export async function runLanes(lanes: readonly TestRun[]): Promise<Counts> {
  let whenShown = Promise.resolve();
  const running = lanes.map((lane) => {
    const report = heldReport();
    const counting = runTests(lane, (text) => report.write(text));
    const show = whenShown.then(() => report.show());
    // This lane's output is shown even when the lane before it failed.
    whenShown = Promise.allSettled([show, counting]).then(() => {});
    return counting;
  });
  await whenShown;
  const outcomes = await Promise.all(running);
  for (const name of outcomes.flatMap(({ failed }) => failed)) console.log(`✖ ${name}`);
  return outcomes.map(({ counts }) => counts).reduce(addCounts, NO_TESTS);
}

/** Keeps a report's text until it may be shown, and passes later text on at once. */
function heldReport() {
  let held: string[] | undefined = [];
  return {
    write(text: string) {
      if (held === undefined) process.stdout.write(text);
      else held.push(text);
    },
    show() {
      for (const text of held ?? []) process.stdout.write(text);
      held = undefined;
    },
  };
}

export function addCounts(a: Counts, b: Counts): Counts {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped };
}

/** A run is green when something ran, all of it passed, and nothing was left out. */
export function isGreen({ passed, failed, skipped }: Counts): boolean {
  return passed > 0 && failed === 0 && skipped === 0;
}

/** The counts of a run that failed: a failure outside the tests, such as the linter's, counts as one. */
export function withFailure(counts: Counts): Counts {
  return counts.failed > 0 || counts.skipped > 0 ? counts : { ...counts, failed: 1 };
}

/** The closing line that other programs read. */
export function describeCounts({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}
