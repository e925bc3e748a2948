import { dayOf, startOfDay } from "./reliability.ts";

export const COUNT_EVERY_MS = 60_000;
/** After a longer gap the server did not run, so nobody saw which machines were online. */
const GAP_MS_MAX = 5 * COUNT_EVERY_MS;
/** How long after a start of the server agents may take to connect before their absence counts. */
export const SETTLE_MS = 120_000;

/** A stretch of time within one day. */
export type DayPart = { readonly day: number; readonly from: Date; readonly until: Date };

export type PresencePlan =
  /** Counted already, by another process or up to a time that is still to come. */
  | { readonly kind: "wait" }
  /** The state in this gap is unknown; counting goes on after it. */
  | { readonly kind: "skip"; readonly until: Date }
  | { readonly kind: "count"; readonly parts: readonly DayPart[]; readonly until: Date };

/** The stretch of time to count next, after everything up to `countedUntil`. */
export function planPresence(countedUntil: Date, now: Date): PresencePlan {
  const gapMs = now.getTime() - countedUntil.getTime();
  const isBeyond = gapMs > GAP_MS_MAX || gapMs < -SETTLE_MS;
  if (isBeyond) return { kind: "skip", until: new Date(now.getTime() + SETTLE_MS) };
  if (gapMs <= 0) return { kind: "wait" };
  return { kind: "count", parts: splitByDay(countedUntil, now), until: now };
}

function splitByDay(from: Date, until: Date): readonly DayPart[] {
  const parts: DayPart[] = [];
  for (let at = from; at < until;) {
    const day = dayOf(at);
    const midnight = startOfDay(day + 1);
    const end = midnight < until ? midnight : until;
    parts.push({ day, from: at, until: end });
    at = end;
  }
  return parts;
}
