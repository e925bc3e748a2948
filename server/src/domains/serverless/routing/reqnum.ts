/** Servers that give requests to the same worker count in lanes of their own. */
export const LANES = 1_024;

/** Below all that are given. */
export const REQNUM_NONE = -1;

/**
 * The number under which a worker gets its next request. It goes by the clock, so that it rises for a worker whichever
 * server gives, also one that was started anew; and by the lane, so that no two servers give the same: published workers
 * know what they have in progress by this number alone.
 */
export function nextReqnum(last: number, nowMs: number, lane: number): number {
  const present = nowMs * LANES + lane;
  return present > last ? present : last + LANES;
}
