import type { ObservedInstance } from "../../../../../../protocol/index.ts";
import type { Tx } from "../../../../db/transaction.ts";
import {
  recordBegunStarts,
  recordFailedStarts,
  recordUnansweredStarts,
  type FailedStart,
} from "../../../supply/hosts/for-instances.ts";
import type { Instance } from "../instance.ts";
import { isUnanswered, outcomeOf } from "./rules/start-outcome.ts";

/**
 * Records for the hosts domain which runs begin, and which fail, by these reports. The caller holds the machines'
 * locks.
 */
export async function recordStarts(
  tx: Tx,
  reports: readonly { readonly instance: Instance; readonly seen: ObservedInstance }[],
): Promise<void> {
  const { begun = [], failed = [] } = Object.groupBy(
    reports,
    ({ instance, seen }) => outcomeOf(seen, instance) ?? "undecided",
  );
  await recordBegunStarts(
    tx,
    begun.map(({ instance }) => startOf(instance, "")),
  );
  await recordFailedStarts(
    tx,
    failed.map(({ instance, seen }) => startOf(instance, seen.status_msg)),
  );
}

/** Records the starts that took too long. */
export async function recordOverdueStarts(tx: Tx, instances: readonly Instance[]): Promise<void> {
  const unanswered = instances.filter(isUnanswered);
  await recordUnansweredStarts(
    tx,
    unanswered.map((instance) => startOf(instance, "it did not start in time, and its host gives no reason")),
  );
}

function startOf({ machineId, id, generation, userId }: Instance, reason: string): FailedStart {
  return { machineId, instanceId: id, generation, renterId: userId, reason };
}
