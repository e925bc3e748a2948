import type { Report } from "../../../../../../protocol/index.ts";

/** All traffic that a report counts. */
export function bytesIn(instances: Report["instances"]): number {
  return instances.reduce((sum, { counters }) => sum + counters.received_bytes + counters.sent_bytes, 0);
}

/** How many instances say what they use of the machine. */
export function usersIn(instances: Report["instances"]): number {
  return instances.filter(({ usage }) => usage !== null).length;
}

/**
 * What a report says, counters aside. The orders it follows are part of it: the same state means something else once more
 * was asked for.
 */
export function gistOf({ desired_version: version, instances }: Report): string {
  return JSON.stringify([version, instances.map(({ counters: _, usage: __, ...said }) => said)]);
}
