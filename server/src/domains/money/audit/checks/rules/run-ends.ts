import { STOP_SECONDS } from "../../../../../base/stop-times.ts";
import type { AuditedPhase, AuditedRun } from "../../../../rental/instances/index.ts";
import { instant, type Report } from "../../rules/difference.ts";
import type { AuditedLine } from "../../../charging/for-audit.ts";

const UP: ReadonlySet<string> = new Set(["starting", "running", "yielding"]);
const LEAVING: ReadonlySet<string> = new Set(["stopping", "ending"]);

/** Until when a run may have cost anything; of one that was under notice the end lies between two moments. */
type End = { readonly earliestMs: number; readonly latestMs: number };

const OPEN: End = { earliestMs: Infinity, latestMs: Infinity };

/** The end of each run, by its generation, as the changes of phase of its instance make it. */
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
      // How long a notice lasted is not kept with it: it was no shorter than nothing.
      ends.set(run, {
        earliestMs: Math.min(earliestMs, endMs),
        latestMs: isOver ? Math.min(latestMs, endMs) : latestMs,
      });
    }
  }
  return ends;
}

/** Checks until when a run may have cost anything. Runs from before that rule say nothing. */
export function checkRunEnd(report: Report, run: AuditedRun, ends: ReadonlyMap<number, End>): void {
  const storedMs = run.chargeableUntilMs;
  if (storedMs === undefined) return;
  const { earliestMs, latestMs } = ends.get(run.generation) ?? OPEN;
  if (earliestMs <= storedMs && storedMs <= latestMs) return;
  report("intervals", {
    problem: "it may cost something until another time than its end was asked for",
    stored: textOf(storedMs),
    expected: textOf(storedMs > latestMs ? latestMs : earliestMs),
  });
}

/** What a host counts after the end that was asked for is not its renter's. */
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
