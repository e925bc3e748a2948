import { countableMs } from "../../../rental/instances/index.ts";
import type { AuditedPhase, AuditedRun } from "../../../rental/instances/for-audit.ts";
import { instant, type Report } from "../rules/difference.ts";

/** Longest difference between the clocks of servers. */
const SKEW_MS = 60_000;

/** The moment at which each run was ordered, by its generation: the phase change that led to it. */
export function ordersOf(phases: readonly AuditedPhase[]): ReadonlyMap<number, Date> {
  const orders = new Map<number, Date>();
  for (const { generation, at } of phases) if (!orders.has(generation)) orders.set(generation, at);
  return orders;
}

/**
 * Checks that a run costs nothing before its earliest possible start, and no more than its evidence allows (ADR 0031).
 */
export function checkRunStart(report: Report, run: AuditedRun, orders: ReadonlyMap<number, Date>): void {
  const { startedAt, meteredFromAt, notRunningAt, runningMs, lastCountedAt } = run;
  const orderedAt = orders.get(run.generation);
  if (orderedAt !== undefined && orderedAt.getTime() - startedAt.getTime() > SKEW_MS) {
    report("intervals", {
      problem: "it began before it was ordered",
      stored: instant(startedAt),
      expected: `from ${instant(orderedAt)} on`,
    });
  }
  if (meteredFromAt !== undefined) {
    checkBeginning(report, meteredFromAt, { at: startedAt, problem: "it costs something from before it began" });
    checkBeginning(report, meteredFromAt, {
      at: notRunningAt,
      problem: "it costs something from when its host still said that it did not run",
    });
  }
  const mostMs = countableMs(run, lastCountedAt);
  if (mostMs === undefined || runningMs <= mostMs) return;
  report("counters", {
    problem: "it counted more than its host's word allows without evidence of its start",
    stored: String(runningMs),
    expected: `at most ${mostMs}`,
  });
}

function checkBeginning(
  report: Report,
  meteredFromAt: Date,
  { at, problem }: { readonly at: Date | undefined; readonly problem: string },
): void {
  if (at === undefined || meteredFromAt >= at) return;
  report("intervals", { problem, stored: instant(meteredFromAt), expected: `from ${instant(at)} on` });
}
