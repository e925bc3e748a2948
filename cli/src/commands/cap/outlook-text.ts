import type { CapSetAnswer } from "../../../../sdk/src/operations.ts";
import { readClock } from "../../clock.ts";
import { whenText } from "../../time-text.ts";

type Outlook = Pick<CapSetAnswer["cap"], "holds_from" | "stops_at">;

/** The outlook of a cap, after its name: the time from which it holds, and the time at which it stops instances. */
export function outlookTexts({ holds_from: holdsFrom, stops_at: stopsAt }: Outlook): readonly string[] {
  const now = readClock();
  if (holdsFrom * 1000 > now.getTime()) {
    const holds = `holds from ${whenText(holdsFrom, now)}`;
    return [`${holds}: instances beyond it are being stopped, and are paid until they have stopped.`];
  }
  return typeof stopsAt === "number" ? [`${stopsText(stopsAt)}.`] : [];
}

/**
 * The time at which a cap stops instances: `stops running instances about 2026-01-31 14:32 UTC (in 3 h) at this rate`.
 */
export function stopsText(stopsAt: number): string {
  return `stops running instances about ${whenText(stopsAt, readClock())} at this rate`;
}
