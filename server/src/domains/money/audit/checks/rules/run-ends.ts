import { STOP_SECONDS } from "../../../../../base/stop-times.ts";
import type { AuditedPhase, AuditedRun } from "../../../../rental/instances/for-audit.ts";
import { instant, type Report } from "../../rules/difference.ts";
import type { AuditedLine } from "../../../charging/for-audit.ts";

const UP: ReadonlySet<string> = new Set(["starting", "running", "yielding"]);
const LEAVING: ReadonlySet<string> = new Set(["stopping", "ending"]);

/** The end of a run's chargeable time; for a run under eviction notice it lies between two moments. */
type End = { readonly earliestMs: number; readonly latestMs: number };

const OPEN: End = { earliestMs: Infinity, latestMs: Infinity };

/** The end of each run, by its generation, from the phase changes of its instance. */
export function endsOf(phases: readonly AuditedPhase[]): ReadonlyMap<number, End> {
  const ends = new Map<number, End>();
  let present: number | undefined;
  for (const { at, from, phase, generation } of phases) {
    const found = present;
    present = generation;
    if (found === undefined) continue;
    const endMs = at.getTime() + STOP_SECONDS * 1000;
    if (from === "yielding" && phase === "running") ends.set(found, OPEN);
    if (from === undefined || !UP.has(from)) continue;
    const isOver = LEAVING.has(phase) || generation > found;
    if (!isOver && phase !== "yielding") continue;
    for (let run = phase === "yielding" ? found : 1; run <= found; run += 1) {
      const { earliestMs, latestMs } = ends.get(run) ?? OPEN;
      // The length of an eviction notice is not kept with it; it was at least zero.
      ends.set(run, {
        earliestMs: Math.min(earliestMs, endMs),
        latestMs: isOver ? Math.min(latestMs, endMs) : latestMs,
      });
    }
  }
  return ends;
}

/** Checks the stored end of a run's chargeable time. Runs from before that rule have none. */
export function checkRunEnd(report: Report, run: AuditedRun, ends: ReadonlyMap<number, End>): void {
  const storedMs = run.chargeableUntilMs;
  if (storedMs === undefined) return;
  const { earliestMs, latestMs } = ends.get(run.generation) ?? OPEN;
  if (earliestMs <= storedMs && storedMs <= latestMs) return;
  report("intervals", {
    problem: "its chargeable time ends at another moment than its end was requested for",
    stored: textOf(storedMs),
    expected: textOf(storedMs > latestMs ? latestMs : earliestMs),
  });
}

/** Checks that a charge line does not cover time after the requested end, which the renter does not pay. */
export function checkChargeable(report: Report, line: AuditedLine, { chargeableUntilMs = Infinity }: AuditedRun): void {
  if (line.toAt.getTime() <= chargeableUntilMs) return;
  report("intervals", {
    problem: "it charges for time after the end that was asked for",
    stored: instant(line.toAt),
    expected: `until ${textOf(chargeableUntilMs)}`,
  });
}

function textOf(ms: number): string {
  return Number.isFinite(ms) ? instant(new Date(ms)) : "no end";
}
