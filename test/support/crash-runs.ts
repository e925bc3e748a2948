// What engines have run against what was charged for it, run by run.
import type { EngineEvidence, Stretch } from "./crash-world.ts";
import { PULSE_MS, type EngineRun } from "./lasting-engine.ts";

export type ChargedRun = {
  readonly instanceId: number;
  readonly generation: number;
  readonly countedMs: number;
  readonly chargedMs: number;
  /** What else is stored of it, for who has to find out. */
  readonly facts: string;
};

export type RunVerdict = {
  readonly ranMs: number;
  readonly chargedMs: number;
  /** How much less may be charged than it ran. */
  readonly excusedMs: number;
  /** Why they may differ by as much as they do. */
  readonly rule: Rule;
  readonly problem: string | undefined;
};
export type Rule = "clocks" | "power" | "absence";

export type RunEvidence = {
  readonly engines: readonly EngineEvidence[];
  readonly charged: readonly ChargedRun[];
};

/** The engine reads one clock and its agent counts by another, which may be set meanwhile. */
export const TOLERANCE_MS = 250;
/** What they may differ by on the average, so that nothing that is wrong with every run hides in that. */
const USUAL_TOLERANCE_MS = 50;
/** A host reports every five seconds, or notes for itself what it cannot report, as long as its agent does not stand still. */
export const REPORT_MS = 8_000;
const REPORT_PULSES = REPORT_MS / PULSE_MS;

/**
 * A run is charged for what its container has really run, whatever died meanwhile. It may be charged for less in two
 * cases alone: of an absence that may have been longer than a lease, from the last report before it on; and of a run that
 * ended with the power, what came after its last report or note.
 */
export function judgeRuns({ engines, charged }: RunEvidence): readonly RunVerdict[] {
  const chargedOf = new Map(charged.map((one) => [keyOf(one), one]));
  const all = engines.flatMap(({ runs, absences, pulses }) => runs.map((run) => ({ ...run, absences, pulses })));
  const ranOf = Map.groupBy(all, (run) => nameOf(run));
  const keys = [...new Set([...chargedOf.keys(), ...ranOf.keys()])];
  return keys.map((key): RunVerdict => {
    const runs = ranOf.get(key) ?? [];
    const { chargedMs = 0, countedMs = 0, facts = "" } = chargedOf.get(key) ?? {};
    const ranMs = runs.reduce((sum, run) => sum + endOf(run) - run.started_at_ms, 0);
    const lost = runs.filter((run) => run.was_lost === true);
    const powerMs = lost.reduce((sum, run) => sum + endOf(run) - reportedAtMs(run), 0);
    const awayMs = runs.reduce((sum, run) => sum + absentMs(run.absences, stretchOf(run)), 0);
    const excusedMs = powerMs + awayMs;
    const isTooMany = chargedMs > ranMs + TOLERANCE_MS;
    const isTooFew = chargedMs < ranMs - excusedMs - TOLERANCE_MS;
    const told = runs.map((run) => `${clock(run.started_at_ms)}–${clock(endOf(run))}`).join(" ");
    const problem =
      isTooMany || isTooFew
        ? `run ${key}: ran ${ranMs} ms (${told}), counted ${countedMs}, charged ${chargedMs}, excused ${excusedMs}; ${facts}`
        : undefined;
    return { ranMs, chargedMs, excusedMs, rule: ruleOf(ranMs - chargedMs, { powerMs, awayMs }), problem };
  });
}

/** What is wrong with all runs together, though with none of them alone. */
export function judgeTogether(verdicts: readonly RunVerdict[]): readonly string[] {
  const seen = verdicts.filter(({ rule }) => rule === "clocks");
  const offMs = seen.reduce((sum, { ranMs, chargedMs }) => sum + Math.abs(chargedMs - ranMs), 0);
  if (offMs <= seen.length * USUAL_TOLERANCE_MS) return [];
  return [`${seen.length} runs that were seen to their end differ by ${offMs} ms together from what was charged`];
}

function ruleOf(missingMs: number, { powerMs, awayMs }: { readonly powerMs: number; readonly awayMs: number }): Rule {
  if (missingMs <= TOLERANCE_MS) return "clocks";
  return awayMs > powerMs ? "absence" : "power";
}

function stretchOf(run: EngineRun): Stretch {
  return { fromMs: run.started_at_ms, toMs: endOf(run) };
}

/** When it was reported or noted last before its end, by an agent that was as slow at it as it may be. */
function reportedAtMs(run: EngineRun & Pick<EngineEvidence, "pulses">): number {
  const reportedMs = run.pulses.filter((atMs) => atMs <= endOf(run)).at(-REPORT_PULSES) ?? 0;
  return Math.max(run.started_at_ms, reportedMs);
}

/** How much of a stretch of time lies in absences. */
export function absentMs(absences: readonly Stretch[], stretch: Stretch): number {
  return absences.reduce((sum, { fromMs, toMs }) => {
    const overlap = Math.min(toMs, stretch.toMs) - Math.max(fromMs, stretch.fromMs);
    return sum + Math.max(0, overlap);
  }, 0);
}

function endOf({ started_at_ms, finished_at_ms }: EngineRun): number {
  return finished_at_ms ?? started_at_ms;
}

function keyOf({ instanceId, generation }: ChargedRun): string {
  return `${instanceId}-g${generation}`;
}

function nameOf({ name }: EngineRun): string {
  return /^berth-(\d+-g\d+)/.exec(name)?.[1] ?? name;
}

function clock(ms: number): string {
  return new Date(ms).toISOString().slice(11, 23);
}
