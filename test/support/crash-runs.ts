// What engines have run against what was charged for it, run by run.
import { LEASE_MS, type EngineEvidence, type Outage } from "./crash-world.ts";
import type { EngineRun } from "./lasting-engine.ts";

export type ChargedRun = {
  readonly instanceId: number;
  readonly generation: number;
  readonly countedMs: number;
  readonly chargedMs: number;
};

export type RunVerdict = {
  readonly ranMs: number;
  readonly chargedMs: number;
  /** How much of it the rules allow to be lost. */
  readonly excusedMs: number;
  readonly problem: string | undefined;
};

export type RunEvidence = {
  readonly engines: readonly EngineEvidence[];
  readonly charged: readonly ChargedRun[];
};

/** Whole milliseconds of two clocks that are read one after the other. */
export const TOLERANCE_MS = 50;
/** A host reports every five seconds, and a report takes a while on a busy machine. */
export const REPORT_MS = 8_000;

/**
 * A run is charged for what its container has really run, whatever died meanwhile. It may be charged for less in two
 * cases alone: of an absence that may have been longer than a lease, from the last report before it on; and of a run that
 * ended with the power, what came after its last report.
 */
export function judgeRuns({ engines, charged }: RunEvidence): readonly RunVerdict[] {
  const chargedOf = new Map(charged.map((one) => [keyOf(one), one]));
  const all = engines.flatMap(({ runs, outages }) => runs.map((run) => ({ ...run, outages })));
  const ranOf = Map.groupBy(all, (run) => nameOf(run));
  const keys = [...new Set([...chargedOf.keys(), ...ranOf.keys()])];
  return keys.map((key): RunVerdict => {
    const runs = ranOf.get(key) ?? [];
    const { chargedMs = 0, countedMs = 0 } = chargedOf.get(key) ?? {};
    const ranMs = runs.reduce((sum, run) => sum + endOf(run) - run.started_at_ms, 0);
    const excusedMs = runs.reduce((sum, run) => sum + excusedIn(run, run.outages), 0);
    const isTooMany = chargedMs > ranMs + TOLERANCE_MS;
    const isTooFew = chargedMs < ranMs - excusedMs - TOLERANCE_MS;
    const told = runs.map((run) => `${clock(run.started_at_ms)}–${clock(endOf(run))}`).join(" ");
    const problem =
      isTooMany || isTooFew
        ? `run ${key}: ran ${ranMs} ms (${told}), counted ${countedMs}, charged ${chargedMs}, excused ${excusedMs}`
        : undefined;
    return { ranMs, chargedMs, excusedMs, problem };
  });
}

function excusedIn(run: EngineRun, outages: readonly Outage[]): number {
  const unseenMs = run.was_lost === true ? REPORT_MS : 0;
  return unseenMs + absentMs(outages, { fromMs: run.started_at_ms, toMs: endOf(run) });
}

/** How much of a stretch of time may lie in absences that were longer than a lease. */
export function absentMs(outages: readonly Outage[], stretch: Outage): number {
  return outages
    .filter(({ fromMs, toMs }) => toMs - fromMs > LEASE_MS - REPORT_MS)
    .reduce((sum, { fromMs, toMs }) => {
      const overlap = Math.min(toMs + REPORT_MS, stretch.toMs) - Math.max(fromMs - REPORT_MS, stretch.fromMs);
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
