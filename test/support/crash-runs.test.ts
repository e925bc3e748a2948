import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeRuns, judgeTogether, type ChargedRun } from "./crash-runs.ts";

const STARTED_MS = Date.UTC(2030, 0, 1);

/** Runs of ten seconds each, of which so much was charged; the server laid their beginnings so much late. */
function verdictsOf(
  runs: readonly { readonly chargedMs: number; readonly lateMs: number }[],
  reports: readonly { readonly fromMs: number; readonly toMs: number }[] = [],
) {
  const charged = runs.map(({ chargedMs, lateMs }, index): ChargedRun => ({
    instanceId: index + 1,
    generation: 1,
    countedMs: chargedMs,
    chargedMs,
    chargeableUntilMs: Infinity,
    meteredFromMs: STARTED_MS + lateMs,
    facts: "",
  }));
  const run = (index: number) => ({
    container_id: String(index),
    name: `berth-${index + 1}-g1`,
    started_at_ms: STARTED_MS,
    finished_at_ms: STARTED_MS + 10_000,
  });
  const engine = { runs: runs.map((_, index) => run(index)), absences: [], reports, pulses: [] };
  return judgeRuns({ engines: [engine], charged });
}

const problemsOf = (verdicts: ReturnType<typeof verdictsOf>) => verdicts.flatMap(({ problem }) => problem ?? []);
const whole = { chargedMs: 10_000, lateMs: 0 };

test("a run may lose as long as its first report was on its way, two seconds or what its host saw, and nothing otherwise", () => {
  assert.deepEqual(problemsOf(verdictsOf([whole, { chargedMs: 9_600, lateMs: 400 }])), []);
  const sent = { fromMs: STARTED_MS + 2_600, toMs: STARTED_MS + 2_800 };
  const seen = [{ fromMs: STARTED_MS - 30, toMs: STARTED_MS + 2_590 }, sent];
  assert.deepEqual(problemsOf(verdictsOf([{ chargedMs: 7_400, lateMs: 2_600 }], seen)), []);
  assert.equal(problemsOf(verdictsOf([{ chargedMs: 6_000, lateMs: 4_000 }], seen)).length, 1);
  for (const wrong of [
    { chargedMs: 9_600, lateMs: 0 },
    { chargedMs: 9_000, lateMs: 400 },
    { chargedMs: 7_000, lateMs: 3_000 },
    { chargedMs: 10_300, lateMs: 400 },
  ]) {
    assert.equal(problemsOf(verdictsOf([wrong])).length, 1, JSON.stringify(wrong));
  }
});

test("a fault that loses the beginning of every run does not pass for late reports", () => {
  const late = { chargedMs: 9_500, lateMs: 500 };
  const verdicts = verdictsOf([...Array.from({ length: 7 }, () => whole), late, late, late]);
  assert.deepEqual(problemsOf(verdicts), []);
  assert.deepEqual(judgeTogether(verdicts), [
    "3 of 10 runs lost their beginning to a late first report: more than a few",
  ]);
  assert.deepEqual(judgeTogether(verdictsOf([whole, late, late])), []);
});
