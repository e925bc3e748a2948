import type { Report } from "../../../../../../protocol/index.ts";

/** Traffic of all instances in a report, in bytes. */
export function bytesIn(instances: Report["instances"]): number {
  return instances.reduce((sum, { counters }) => sum + counters.received_bytes + counters.sent_bytes, 0);
}

/** Number of instances with a reading of their use of the machine. */
export function usersIn(instances: Report["instances"]): number {
  return instances.filter(({ usage }) => usage !== null).length;
}

/**
 * The content of a report, counters aside. The orders that it follows are part of it: the same state means something
 * else after a new order.
 */
export function gistOf({ desired_version: version, instances }: Report): string {
  return JSON.stringify([version, instances.map(({ counters: _, usage: __, ...said }) => said)]);
}
