import { createHash } from "node:crypto";
import { dayOf } from "./reliability.ts";

/** Enough for a reliability above 0.9, and so few that thousands of hosts start quickly. */
const DAYS = 14;
/** Today and yesterday are left out: their presence may be counted at this very moment. */
const LAST_DAYS_AGO = 2;
const DAY_MS = 86_400_000;
const ONLINE_SHARE_MIN = 0.94;

export type InventedDay = { readonly day: number; readonly onlineMs: bigint; readonly offlineMs: bigint };

/**
 * The past of a simulated machine, which nobody has seen: a machine on the market for two weeks that was rarely away.
 * The same key gives the same past on the same day.
 */
export function inventDays(hostKey: string, now: Date): readonly InventedDay[] {
  const draw = createHash("sha256").update(`presence of ${hostKey}`).digest().readUInt32BE() / 2 ** 32;
  const offlineMs = Math.floor((1 - ONLINE_SHARE_MIN) * draw * DAY_MS);
  const last = dayOf(now) - LAST_DAYS_AGO;
  return Array.from({ length: DAYS }, (_, index) => ({
    day: last - DAYS + 1 + index,
    onlineMs: BigInt(DAY_MS - offlineMs),
    offlineMs: BigInt(offlineMs),
  }));
}
