import path from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";

const ROOT = path.join(import.meta.dirname, "..");

export type Counts = { readonly passed: number; readonly failed: number; readonly skipped: number };

export const NO_TESTS: Counts = { passed: 0, failed: 0, skipped: 0 };

export type TestRun = {
  /** Absolute, or below the root of the repository. */
  readonly files: readonly string[];
  /** How many files run at once. */
  readonly concurrency: number;
  /** For one test; the one that takes longer fails. */
  readonly timeoutMs: number;
};

/** Runs test files, each in a process of its own, reports them on stdout, and returns the runner's own counts. */
export async function runTests({ files, concurrency, timeoutMs }: TestRun): Promise<Counts> {
  const stream = run({
    files: files.map((file) => path.resolve(ROOT, file)),
    concurrency,
    timeout: timeoutMs,
    cwd: ROOT,
    // A failed test may leave a timer or a socket behind; its file must end all the same, or the run never would.
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  let counts: Counts | undefined;
  stream.on("test:summary", (summary) => {
    if (summary.file !== undefined) return; // One per file comes before the one of the whole run.
    const { passed, cancelled, skipped, todo, tests } = summary.counts;
    // What neither passed nor was left out has failed, whatever the runner calls it.
    const leftOut = skipped + todo;
    counts = { passed, skipped: leftOut, failed: Math.max(tests - passed - leftOut, cancelled) };
  });
  for await (const text of stream.compose(spec)) process.stdout.write(String(text));
  // Without a summary the run itself broke off.
  return counts ?? { ...NO_TESTS, failed: 1 };
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
