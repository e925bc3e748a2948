import type { LifecycleEvent, Phase } from "./lifecycle.ts";

/** Why a run is over that should have gone on: its renter gets a part of its price back. */
export type FaultReason = "host_lost" | "host_stopped" | "device_fault";

type Ending = {
  readonly phase: Phase;
  readonly event: LifecycleEvent;
  readonly to: Phase;
  readonly deviceProblem: string;
};

const UP: ReadonlySet<Phase> = new Set(["running", "yielding"]);

/**
 * Whether a change of phase ends a run because its host failed. A host is lost when its lease has run out for certain
 * while it held the run; it stopped the run by itself, or lost it, when it reports what runs as stopped; and a run that
 * ends while its GPUs are sick ends for that, whoever ends it. A process that ended by itself ends no run.
 */
export function faultOf({ phase, event, to, deviceProblem }: Ending): FaultReason | undefined {
  if (event === "hostLost") return "host_lost";
  if (phase === "running" && (event === "containerStopped" || event === "containerAbsent")) return "host_stopped";
  if (UP.has(phase) && !UP.has(to) && deviceProblem !== "") return "device_fault";
  return undefined;
}
