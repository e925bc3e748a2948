import type { CapSetAnswer } from "../../../../sdk/src/operations.ts";
import { readClock } from "../../clock.ts";
import { whenText } from "../../time-text.ts";

type Outlook = Pick<CapSetAnswer["cap"], "holds_from" | "stops_at">;

/** What will come of a cap, after its name: from when on it holds, and when it stops what runs. */
export function outlookTexts({ holds_from: holdsFrom, stops_at: stopsAt }: Outlook): readonly string[] {
  const now = readClock();
  if (holdsFrom * 1000 > now.getTime()) {
    const holds = `holds from ${whenText(holdsFrom, now)}`;
    return [`${holds}: what runs beyond it is being stopped, and is paid until it has stopped.`];
  }
  return typeof stopsAt === "number" ? [`${stopsText(stopsAt)}.`] : [];
}

/** Such as `stops what runs about 2026-01-31 14:32 UTC (in 3 h) at this rate`. */
export function stopsText(stopsAt: number): string {
  return `stops what runs about ${whenText(stopsAt, readClock())} at this rate`;
}
