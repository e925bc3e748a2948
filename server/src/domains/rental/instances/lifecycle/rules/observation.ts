import type { ObservedInstance } from "../../../../../../../protocol/index.ts";
import type { LifecycleEvent, Phase } from "./lifecycle.ts";

type Seen = Pick<ObservedInstance, "generation" | "state"> & { readonly counters: { readonly running_ms: number } };

/**
 * The event that a host's report on one instance means; undefined when it changes nothing. A report on an older
 * generation is about a run that is over, and is stale. `isObeyed` says that the host had the order to keep it down, or
 * to take it down within an eviction notice, before it looked: without that, a start may follow the report of nothing
 * running.
 */
export function eventOf(
  seen: Seen,
  instance: { readonly phase: Phase; readonly generation: number },
  isObeyed: boolean,
): LifecycleEvent | undefined {
  if (seen.generation !== instance.generation) return undefined;
  const isStopping = instance.phase === "stopping" || instance.phase === "yielding";
  const isLeaving = isStopping || instance.phase === "ending";
  if (isLeaving && !isObeyed) return undefined;
  switch (seen.state) {
    case "running":
      return "containerRunning";
    case "stopped":
      // An instance that has not begun to run still waits for its start.
      return instance.phase === "starting" && seen.counters.running_ms === 0 ? undefined : "containerStopped";
    case "absent":
      return "containerAbsent";
    case "exited":
      // A process that ended by itself keeps its devices until its owner decides; for an instance that leaves, its end
      // is the receipt.
      return isStopping ? "containerStopped" : undefined;
    case "created":
      return isStopping ? "containerStopped" : lostIn(instance);
    case "pulling":
    case "starting":
      return lostIn(instance);
    case "stopping":
    case "failed":
      return undefined;
  }
}

/**
 * A host that creates a running instance again, under the same generation, has lost it: its agent or its engine was
 * restarted.
 */
function lostIn({ phase }: { readonly phase: Phase }): LifecycleEvent | undefined {
  return phase === "running" ? "containerAbsent" : undefined;
}
