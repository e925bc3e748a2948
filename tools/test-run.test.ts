import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { addCounts, describeCounts, isGreen, NO_TESTS, withFailure, type Counts } from "./test-run.ts";

/** Runs test files in a runner of its own: one runner cannot start another inside itself. */
async function countTests(t: TestContext, sources: Readonly<Record<string, string>>): Promise<Counts> {
  const directory = await mkdtemp(path.join(tmpdir(), "berth-test-run-"));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const files = Object.keys(sources).map((name) => path.join(directory, name));
  for (const [name, source] of Object.entries(sources)) {
    await writeFile(path.join(directory, name), `import { test } from "node:test";\n${source}`);
  }
  const module = JSON.stringify(new URL("./test-run.ts", import.meta.url).href);
  const script = `
    const { runTests } = await import(${module});
    const counts = await runTests({ files: ${JSON.stringify(files)}, concurrency: 2, timeoutMs: 300 });
    console.log("\\n" + JSON.stringify(counts));`;
  const runner = path.join(directory, "runner.mjs");
  await writeFile(runner, script);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const done = spawnSync(process.execPath, [runner], { env, encoding: "utf8" });
  return JSON.parse(done.stdout.trimEnd().split("\n").at(-1) ?? "");
}

test("passed, failed, skipped and planned tests of several files are told apart", async (t) => {
  const counts = await countTests(t, {
    "a.test.mjs": `test("a", () => {}); test("b", () => { throw new Error("no"); }); test("c", { skip: true }, () => {});`,
    "b.test.mjs": `test("d", () => {}); test("e", { todo: true }, () => {});`,
  });
  assert.deepEqual(counts, { passed: 2, failed: 1, skipped: 2 });
});

test("a file that cannot be loaded and a test that takes too long count as failures", async (t) => {
  const counts = await countTests(t, {
    "broken.test.mjs": `import "./nowhere.mjs";`,
    "slow.test.mjs": `test("never", () => new Promise((resolve) => setTimeout(resolve, 60_000)));`,
    "fine.test.mjs": `test("fine", () => {});`,
  });
  assert.equal(counts.passed, 1);
  assert.ok(counts.failed >= 2);
});

test("a run is green only when something ran, all of it passed, and nothing was left out", () => {
  assert.equal(isGreen({ passed: 3, failed: 0, skipped: 0 }), true);
  assert.equal(isGreen(NO_TESTS), false);
  assert.equal(isGreen({ passed: 3, failed: 1, skipped: 0 }), false);
  assert.equal(isGreen({ passed: 3, failed: 0, skipped: 1 }), false);
});

test("the closing line names skipped tests only when there are any", () => {
  const sum = addCounts({ passed: 3, failed: 0, skipped: 0 }, { passed: 2, failed: 1, skipped: 0 });
  assert.equal(describeCounts(sum), "5 passed, 1 failed");
  assert.equal(describeCounts({ ...sum, skipped: 2 }), "5 passed, 1 failed, 2 skipped");
});

test("a run that failed without a failing test never closes with zero failures", () => {
  assert.equal(describeCounts(withFailure(NO_TESTS)), "0 passed, 1 failed");
  assert.equal(describeCounts(withFailure({ passed: 4, failed: 0, skipped: 0 })), "4 passed, 1 failed");
  assert.equal(describeCounts(withFailure({ passed: 4, failed: 2, skipped: 0 })), "4 passed, 2 failed");
});
