import type { ObservedInstance } from "../../../../protocol/index.ts";
import type { LifecycleEvent, Phase } from "./lifecycle.ts";

/**
 * What a host's report of one instance means to its lifecycle; undefined when it changes nothing. A report of an older
 * generation speaks of a run that is over and is stale, whatever it says.
 */
export function eventOf(
  observed: Pick<ObservedInstance, "generation" | "state">,
  instance: { readonly phase: Phase; readonly generation: number },
): LifecycleEvent | undefined {
  if (observed.generation !== instance.generation) return undefined;
  switch (observed.state) {
    case "running":
      return "containerRunning";
    case "stopped":
      return "containerStopped";
    case "exited":
      // A process that ended by itself keeps its place until its owner decides; while stopping it is the receipt.
      return instance.phase === "stopping" ? "containerStopped" : undefined;
    case "absent":
      return "containerAbsent";
    case "created":
      // Made but never started: nothing runs, so a stop is done.
      return instance.phase === "stopping" ? "containerStopped" : undefined;
    case "pulling":
    case "starting":
    case "stopping":
    case "failed":
      return undefined;
  }
}
