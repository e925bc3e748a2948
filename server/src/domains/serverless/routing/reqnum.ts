/** Servers that give requests to the same worker count in separate lanes, so that their numbers differ. */
export const LANES = 1_024;

/** A number below all that are given. */
export const REQNUM_NONE = -1;

/**
 * The number under which a worker gets its next request. It follows the clock, so that it rises for a worker across
 * servers and their restarts, and it includes the lane, so that no two servers give the same number: published
 * workers identify their requests in progress by this number alone.
 */
export function nextReqnum(last: number, nowMs: number, lane: number): number {
  const present = nowMs * LANES + lane;
  return present > last ? present : last + LANES;
}
