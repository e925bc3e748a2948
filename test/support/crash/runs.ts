// Runs of the engines against their charges, run by run.
import type { EngineEvidence, Stretch } from "./evidence.ts";
import { PULSE_MS, type EngineRun } from "./lasting-engine.ts";

export type ChargedRun = {
  readonly instanceId: number;
  readonly generation: number;
  readonly countedMs: number;
  readonly chargedMs: number;
  /** From this time on the run costs its renter nothing; infinite while nobody asked for its end. */
  readonly chargeableUntilMs: number;
  /** The beginning of the run by the server's books; infinite while the server knows none. */
  readonly meteredFromMs: number;
  /** Further stored values of the run, for the reader of a failure. */
  readonly facts: string;
};

export type RunVerdict = {
  readonly ranMs: number;
  readonly chargedMs: number;
  /** The part of the run that need not be charged. */
  readonly excusedMs: number;
  /** The rule by which run and charge may differ. */
  readonly rule: Rule;
  readonly problem: string | undefined;
};
export type Rule = "clocks" | "power" | "absence" | "release" | "delay";

export type RunEvidence = {
  readonly engines: readonly EngineEvidence[];
  readonly charged: readonly ChargedRun[];
};

/** The engine reads one clock and its agent counts by another, which may be set meanwhile. */
export const TOLERANCE_MS = 250;
/** The most that runs and charges may differ on average, so that a fault of every run does not hide in the tolerance. */
const USUAL_TOLERANCE_MS = 50;
/** A host reports every five seconds, or notes for itself what it cannot report, as long as its agent does not stand still. */
export const REPORT_MS = 8_000;
const REPORT_PULSES = REPORT_MS / PULSE_MS;
/** The most runs that late reports may excuse, as a number and as a share of many. */
const LATE_RUNS_MAX = 2;
const LATE_SHARE_MAX = 0.1;

/**
 * A run is charged for the real time of its container, also after crashes. It may be charged for less in four
 * cases alone: for the time after its end was asked for and a stop should have been certain; of an absence that may have
 * been longer than a lease, from the last report before it on; of a run that ended with the power, what came after its last
 * report or note; and for as long as its first report, or the one before it, was on its way, as its host saw it.
 */
export function judgeRuns({ engines, charged }: RunEvidence): readonly RunVerdict[] {
  const chargedOf = new Map(charged.map((one) => [keyOf(one), one]));
  const all = engines.flatMap(({ runs, ...evidence }) => runs.map((run) => ({ ...run, ...evidence })));
  const ranOf = Map.groupBy(all, (run) => nameOf(run));
  const keys = [...new Set([...chargedOf.keys(), ...ranOf.keys()])];
  return keys.map((key): RunVerdict => {
    const runs = ranOf.get(key) ?? [];
    const charge = chargedOf.get(key);
    const { chargedMs = 0, countedMs = 0, chargeableUntilMs = Infinity, facts = "" } = charge ?? {};
    const ranMs = runs.reduce((sum, run) => sum + endOf(run) - run.startedAtMs, 0);
    const lost = runs.filter((run) => run.wasLost === true);
    const powerMs = lost.reduce((sum, run) => sum + endOf(run) - reportedAtMs(run), 0);
    const awayMs = runs.reduce((sum, run) => sum + absentMs(run.absences, stretchOf(run)), 0);
    const releasedMs = runs.reduce((sum, run) => sum + releasedOf(run, chargeableUntilMs), 0);
    const delayMs = charge === undefined ? 0 : delayOf(charge, runs);
    const excusedMs = powerMs + awayMs + releasedMs + delayMs;
    const isTooMany = chargedMs > ranMs + TOLERANCE_MS;
    const isTooFew = chargedMs < ranMs - excusedMs - TOLERANCE_MS;
    const told = runs.map((run) => `${clock(run.startedAtMs)}–${clock(endOf(run))}`).join(" ");
    const problem =
      isTooMany || isTooFew
        ? `run ${key}: ran ${ranMs} ms (${told}), counted ${countedMs}, charged ${chargedMs}, excused ${excusedMs}; ${facts}`
        : undefined;
    return {
      ranMs,
      chargedMs,
      excusedMs,
      rule: ruleOf(ranMs - chargedMs, { powerMs, awayMs, releasedMs, delayMs }),
      problem,
    };
  });
}

/**
 * Problems of all runs together that no single run shows. Late reports mostly cost nothing, so they may excuse few runs
 * only: a fault that loses beginnings would otherwise pass for the delay of a slow machine.
 */
export function judgeTogether(verdicts: readonly RunVerdict[]): readonly string[] {
  const seen = verdicts.filter(({ rule }) => rule === "clocks");
  const offMs = seen.reduce((sum, { ranMs, chargedMs }) => sum + Math.abs(chargedMs - ranMs), 0);
  const late = verdicts.filter(({ rule, problem }) => rule === "delay" && problem === undefined);
  return [
    ...(offMs > seen.length * USUAL_TOLERANCE_MS
      ? [`${seen.length} runs that were seen to their end differ by ${offMs} ms together from what was charged`]
      : []),
    ...(late.length > Math.max(LATE_RUNS_MAX, verdicts.length * LATE_SHARE_MAX)
      ? [`${late.length} of ${verdicts.length} runs lost their beginning to a late first report: more than a few`]
      : []),
  ];
}

function ruleOf(
  missingMs: number,
  { powerMs, awayMs, releasedMs, delayMs }: Readonly<Record<"powerMs" | "awayMs" | "releasedMs" | "delayMs", number>>,
): Rule {
  if (missingMs <= TOLERANCE_MS) return "clocks";
  if (delayMs > powerMs + awayMs + releasedMs) return "delay";
  if (releasedMs > powerMs + awayMs) return "release";
  return awayMs > powerMs ? "absence" : "power";
}

/** The time for which a run went on after it cost its renter nothing any more. */
function releasedOf(run: EngineRun, chargeableUntilMs: number): number {
  return Math.max(0, endOf(run) - Math.max(run.startedAtMs, chargeableUntilMs));
}

/**
 * How late a run can have been laid, by what its host saw. It lies in time where its first report puts it, as late as that
 * came, and not before a report that it does not run yet, as late as that came. How long it ran until its host could tell
 * anybody is in its first report, and excuses nothing.
 */
function delayOf({ meteredFromMs }: ChargedRun, runs: readonly (EngineRun & Told)[]): number {
  const [run] = runs.toSorted((a, b) => a.startedAtMs - b.startedAtMs);
  if (run === undefined || !Number.isFinite(meteredFromMs)) return 0;
  const { startedAtMs: startedMs, sends } = run;
  const toldMs = answerTo(run, startedMs);
  // An agent learns of a start a moment after it, and its last word before that is on its way meanwhile.
  const unaware = sends.findLast((atMs) => atMs < startedMs + TOLERANCE_MS);
  const aware = sends.filter((atMs) => atMs >= startedMs && atMs <= toldMs);
  const late = [
    ...(unaware === undefined ? [] : [heardBy(run, unaware) - startedMs]),
    ...aware.map((atMs) => heardBy(run, atMs) - atMs),
  ];
  return Math.min(Math.max(0, meteredFromMs - startedMs), Math.max(0, ...late));
}

type Told = Pick<EngineEvidence, "reports" | "sends" | "outages">;

/** When a report of this moment had come at the latest: it was answered, or the connection that it was sent by is gone. */
function heardBy(told: Told, atMs: number): number {
  const goneMs = told.outages.find(({ fromMs }) => fromMs >= atMs)?.fromMs ?? Infinity;
  return Math.min(goneMs, answerTo(told, atMs));
}

/** Answers come in the order of the reports, and one may answer for those before it. */
function answerTo({ reports }: Told, atMs: number): number {
  return reports.find(({ fromMs }) => fromMs >= atMs)?.toMs ?? Infinity;
}

function stretchOf(run: EngineRun): Stretch {
  return { fromMs: run.startedAtMs, toMs: endOf(run) };
}

/** The time of the last report or note before the run's end, by an agent that was as slow as it may be. */
function reportedAtMs(run: EngineRun & Pick<EngineEvidence, "pulses">): number {
  const reportedMs = run.pulses.filter((atMs) => atMs <= endOf(run)).at(-REPORT_PULSES) ?? 0;
  return Math.max(run.startedAtMs, reportedMs);
}

/** The part of a stretch of time that lies in absences. */
export function absentMs(absences: readonly Stretch[], stretch: Stretch): number {
  return absences.reduce((sum, { fromMs, toMs }) => {
    const overlap = Math.min(toMs, stretch.toMs) - Math.max(fromMs, stretch.fromMs);
    return sum + Math.max(0, overlap);
  }, 0);
}

function endOf({ startedAtMs, finishedAtMs }: EngineRun): number {
  return finishedAtMs ?? startedAtMs;
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
