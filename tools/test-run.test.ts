import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { addCounts, describeCounts, isGreen, NO_TESTS, withFailure, type Counts } from "./test-run.ts";
import { TEST_SEED_VARIABLE } from "./test-seed.ts";

/** Limits of a test: short for one that must run into it, long for those that must wait for each other. */
const [SHORT_MS, LONG_MS] = [300, 60_000];

type Sources = Readonly<Record<string, string>>;

async function countTests(t: TestContext, sources: Sources): Promise<Counts> {
  return (await runLanes(t, [sources], SHORT_MS)).counts;
}

/** Runs test files in a runner of its own: one runner cannot start another inside itself. */
async function runLanes(
  t: TestContext,
  lanes: readonly Sources[],
  timeoutMs: number,
  variables: NodeJS.ProcessEnv = {},
  groupsOf: (files: readonly string[]) => readonly (readonly string[])[] = (files) => files.map((file) => [file]),
): Promise<{ readonly report: string; readonly counts: Counts }> {
  const directory = await mkdtemp(path.join(tmpdir(), "berth-test-run-"));
  t.after(() => rm(directory, { recursive: true, force: true }));
  for (const [name, source] of lanes.flatMap((sources) => Object.entries(sources))) {
    await writeFile(path.join(directory, name), `import { test } from "node:test";\n${source}`);
  }
  const runs = lanes.map((sources) => ({
    groups: groupsOf(Object.keys(sources).map((name) => path.join(directory, name))),
    concurrency: 2,
    timeoutMs,
  }));
  const module = JSON.stringify(new URL("./test-run.ts", import.meta.url).href);
  const script = `
    const { runLanes } = await import(${module});
    console.log("\\n" + JSON.stringify(await runLanes(${JSON.stringify(runs)})));`;
  const runner = path.join(directory, "runner.mjs");
  await writeFile(runner, script);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const done = spawnSync(process.execPath, [runner], { env: { ...env, ...variables }, encoding: "utf8" });
  const lines = done.stdout.trimEnd().split("\n");
  return { counts: JSON.parse(lines.pop() ?? ""), report: lines.join("\n") };
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
    "slow.test.mjs": `test("slow", () => new Promise((resolve) => setTimeout(resolve, ${10 * SHORT_MS})));`,
    "fine.test.mjs": `test("fine", () => {});`,
  });
  assert.equal(counts.passed, 1);
  assert.ok(counts.failed >= 2);
});

test("a group whose tests pass and whose clearing up fails is a failure, named by its place", async (t) => {
  const files = {
    "a.test.mjs": `test.suite("group", () => {
  test.after(() => { throw new Error("remains"); });
  test("a passes", () => {});
});`,
  };
  const { counts, report } = await runLanes(t, [files], LONG_MS);
  assert.deepEqual(counts, { passed: 1, failed: 1, skipped: 0 });
  assert.match(report, /^✖ \S*a\.test\.mjs:2 group$/m);
});

test("lanes run at the same time, and each is reported in one piece, in their order", async (t) => {
  const meeting = (own: string, other: string, more = "") => `
    import { existsSync, writeFileSync } from "node:fs";
    const place = (name) => new URL(name, import.meta.url);
    test("${own} meets ${other}", async () => {
      writeFileSync(place("${own}"), "");
      while (!existsSync(place("${other}"))) await new Promise((resolve) => setTimeout(resolve, 5));
      ${more}
    });`;
  const lanes = [
    { "a.test.mjs": meeting("a", "b"), "a-late.test.mjs": meeting("a-late", "b-late") },
    { "b.test.mjs": meeting("b", "a", `throw new Error("b fails")`), "b-late.test.mjs": meeting("b-late", "a-late") },
  ];
  const { counts, report } = await runLanes(t, lanes, LONG_MS);
  assert.deepEqual(counts, { passed: 3, failed: 1, skipped: 0 });
  const said = ["a meets b", "a-late meets b-late", "b meets a", "b-late meets a-late", "b fails"];
  const places = said.map((words) => report.indexOf(words));
  assert.ok(!places.includes(-1), report);
  assert.deepEqual(
    places,
    places.toSorted((one, other) => one - other),
    report,
  );
});

test("a failure in any lane is named again at the end, with its place", async (t) => {
  const lanes = [
    { "a.test.mjs": `test.suite("group", () => test("a fails", () => { throw new Error("no"); }));` },
    { "b.test.mjs": `test("b passes", () => {});\ntest("b fails", () => { throw new Error("no"); });` },
  ];
  const { report } = await runLanes(t, lanes, LONG_MS);
  const [a, b] = report.trimEnd().split("\n").slice(-2);
  assert.match(a ?? "", /^✖ .*a\.test\.mjs:2 a fails$/);
  assert.match(b ?? "", /^✖ .*b\.test\.mjs:3 b fails$/);
});

test("files of one group share a process, and what fails in one is named by its own place", async (t) => {
  const lane = {
    "a.test.mjs": `test("a notes its process", () => { globalThis.noted = process.pid; });`,
    "b.test.mjs": `import assert from "node:assert/strict";
test("b is in the same process", () => assert.equal(globalThis.noted, process.pid));
test("b fails", () => { throw new Error("no"); });`,
  };
  const { counts, report } = await runLanes(t, [lane], LONG_MS, {}, (files) => [files]);
  assert.deepEqual(counts, { passed: 2, failed: 1, skipped: 0 });
  assert.match(report.trimEnd().split("\n").at(-1) ?? "", /^✖ .*b\.test\.mjs:4 b fails$/);
});

test("the properties of a run draw the cases that its seed decides", async (t) => {
  const source = `
    import fc from ${JSON.stringify(import.meta.resolve("fast-check"))};
    test("draws its cases", (t) => t.diagnostic("drawn " + fc.sample(fc.nat(), 5)));`;
  const drawn = async (seed: string) => {
    const { report } = await runLanes(t, [{ "a.test.mjs": source }], LONG_MS, { [TEST_SEED_VARIABLE]: seed });
    return /drawn [\d,]+/.exec(report)?.[0] ?? "";
  };
  const first = await drawn("1");
  assert.match(first, /^drawn (\d+,){4}\d+$/);
  assert.deepEqual([(await drawn("1")) === first, (await drawn("2")) === first], [true, false]);
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
