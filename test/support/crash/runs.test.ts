import assert from "node:assert/strict";
import { test } from "node:test";
import type { EngineEvidence } from "./evidence.ts";
import { judgeRuns, judgeTogether, type ChargedRun } from "./runs.ts";

const STARTED_MS = Date.UTC(2030, 0, 1);

const at = (fromMs: number, toMs: number) => ({ fromMs: STARTED_MS + fromMs, toMs: STARTED_MS + toMs });
const isAnswered = ({ toMs }: { readonly toMs: number }) => Number.isFinite(toMs);
/** Reports a second before the start, and soon after it, each answered at once. */
const PROMPT = [at(-1_000, -990), at(40, 60), at(5_000, 5_010)];

/**
 * Verdicts on runs of ten seconds each, with these charges, and with beginnings that the server put this much too late.
 */
function verdictsOf(
  runs: readonly { readonly chargedMs: number; readonly lateMs: number }[],
  { reports = PROMPT, outages = [] }: Partial<Pick<EngineEvidence, "reports" | "outages">> = {},
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
    containerId: String(index),
    name: `berth-${index + 1}-g1`,
    startedAtMs: STARTED_MS,
    finishedAtMs: STARTED_MS + 10_000,
  });
  const sends = reports.map(({ fromMs }) => fromMs);
  const own = { runs: runs.map((_, index) => run(index)), absences: [], pulses: [] };
  const engine: EngineEvidence = { ...own, reports: reports.filter(isAnswered), sends, outages };
  return judgeRuns({ engines: [engine], charged });
}

const problemsOf = (verdicts: ReturnType<typeof verdictsOf>) => verdicts.flatMap(({ problem }) => problem ?? []);
const whole = { chargedMs: 10_000, lateMs: 0 };

test("a run may lose as long as its first report was on its way, by what its host saw, and nothing otherwise", () => {
  const judge = (lateMs: number, lostMs: number, evidence?: Parameters<typeof verdictsOf>[1]) =>
    problemsOf(verdictsOf([{ chargedMs: 10_000 - lostMs, lateMs }], evidence)).length;
  assert.deepEqual(problemsOf(verdictsOf([whole])), []);
  const slow = { reports: [at(-1_000, -990), at(40, 2_700)] };
  assert.equal(judge(2_600, 2_600, slow), 0, "a first report that took long");
  assert.equal(judge(4_000, 4_000, slow), 1, "and not as long as that");
  const unaware = { reports: [at(-20, 900), at(910, 920)] };
  assert.equal(judge(900, 900, unaware), 0, "the word before it, that it does not run yet, took long");
  for (const [lateMs, lostMs] of [
    [0, 400],
    [400, 400],
    [400, 1_000],
    [3_000, 3_000],
    [400, -300],
  ] as const) {
    assert.equal(judge(lateMs, lostMs), 1, `${lateMs} ms late, ${lostMs} ms lost`);
  }
});

test("a run that began while its server was away loses nothing: its first report says how long it has run", () => {
  const away = { reports: [at(-1_000, -990), at(8_000, 8_020)], outages: [at(-500, 7_990)] };
  assert.equal(problemsOf(verdictsOf([{ chargedMs: 2_000, lateMs: 8_000 }], away)).length, 1);
  const unanswered = { reports: [at(-1_000, -990), at(40, Infinity), at(8_000, 8_020)], outages: [at(700, 7_990)] };
  assert.equal(problemsOf(verdictsOf([{ chargedMs: 9_400, lateMs: 600 }], unanswered)).length, 0, "it died with it");
  assert.equal(problemsOf(verdictsOf([{ chargedMs: 8_500, lateMs: 1_500 }], unanswered)).length, 1);
});

test("a fault that loses the beginning of every run does not pass for late reports", () => {
  const late = { chargedMs: 9_500, lateMs: 500 };
  const slow = { reports: [at(-1_000, -990), at(40, 700)] };
  const verdicts = verdictsOf([...Array.from({ length: 7 }, () => whole), late, late, late], slow);
  assert.deepEqual(problemsOf(verdicts), []);
  assert.deepEqual(judgeTogether(verdicts), [
    "3 of 10 runs lost their beginning to a late first report: more than a few",
  ]);
  assert.deepEqual(judgeTogether(verdictsOf([whole, late, late], slow)), []);
});
