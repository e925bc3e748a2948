import type { Fleet } from "./fleet.ts";

/**
 * The fleet at the end of each step, with the longest queue of the step: the last that was stored up to then; undefined
 * before the first.
 */
export function fleetSeries(
  stored: readonly (Fleet & { readonly atS: number; readonly longestQueue: number })[],
  steps: readonly number[],
): readonly (Fleet | undefined)[] {
  let next = 0;
  let last: Fleet | undefined;
  return steps.map((step) => {
    // A queue that was stored earlier still holds when the step begins: its end would have been stored.
    let longest = last?.queued ?? 0;
    for (let one = stored[next]; one !== undefined && one.atS <= step; one = stored[next]) {
      longest = one.atS === step ? Math.max(longest, one.longestQueue) : one.queued;
      last = one;
      next += 1;
    }
    return last && { ...last, queued: longest };
  });
}
