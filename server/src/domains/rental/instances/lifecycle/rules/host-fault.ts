import type { LifecycleEvent, Phase } from "./lifecycle.ts";

/** Reasons why a run ended by its host's fault, for which its renter gets a part of its price back. */
export type FaultReason = "host_lost" | "host_stopped" | "device_fault";

type Ending = {
  readonly phase: Phase;
  readonly event: LifecycleEvent;
  readonly to: Phase;
  readonly deviceProblem: string;
};

const UP: ReadonlySet<Phase> = new Set(["running", "yielding"]);

/**
 * The fault of the host that a change of phase shows; undefined when there is none. A host is lost when its heartbeat
 * lease has certainly run out while it held the run; it stopped or lost the run when it reports a running instance as
 * stopped; and a run that ends while its GPUs are sick counts as ended by them, for any cause. A process that ended by
 * itself ends no run.
 */
export function faultOf({ phase, event, to, deviceProblem }: Ending): FaultReason | undefined {
  if (event === "hostLost") return "host_lost";
  if (phase === "running" && (event === "containerStopped" || event === "containerAbsent")) return "host_stopped";
  if (UP.has(phase) && !UP.has(to) && deviceProblem !== "") return "device_fault";
  return undefined;
}
