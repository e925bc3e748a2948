import type { ObservedInstance } from "../../../../../../../protocol/index.ts";
import type { LifecycleEvent, Phase } from "./lifecycle.ts";

type Seen = Pick<ObservedInstance, "generation" | "state"> & { readonly counters: { readonly running_ms: number } };

/**
 * What a host's report of one instance means to its lifecycle; undefined when it changes nothing. A report of an older
 * generation speaks of a run that is over and is stale, whatever it says. `isObeyed` says that the host had been ordered
 * to have it down, or to take it down within a notice, before it looked: without that, "nothing runs" may be followed by
 * a start.
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
      // What has not begun to run yet still waits for its start.
      return instance.phase === "starting" && seen.counters.running_ms === 0 ? undefined : "containerStopped";
    case "absent":
      return "containerAbsent";
    case "exited":
      // A process that ended by itself keeps its place until its owner decides; of one that leaves it is the receipt.
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

/** A host that makes what ran already, under the same generation, has lost it: its agent was restarted, or its engine. */
function lostIn({ phase }: { readonly phase: Phase }): LifecycleEvent | undefined {
  return phase === "running" ? "containerAbsent" : undefined;
}
