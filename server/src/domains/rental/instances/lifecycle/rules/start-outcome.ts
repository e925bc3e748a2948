import type { ObservedInstance } from "../../../../../../../protocol/index.ts";
import type { Instance } from "../../instance.ts";

type Seen = Pick<ObservedInstance, "generation" | "state" | "fault">;
type Starting = Pick<Instance, "phase" | "generation">;

/**
 * The outcome of a run's start by its host's report; undefined while it is undecided, or when only the image is to
 * blame. Only the host's own agent can report that the host is to blame: a renter's program cannot.
 */
export function outcomeOf(seen: Seen, instance: Starting): "begun" | "failed" | undefined {
  if (instance.phase !== "starting" || seen.generation !== instance.generation) return undefined;
  if (seen.state === "running") return "begun";
  return seen.state === "failed" && seen.fault === "host" ? "failed" : undefined;
}

/** States of a host that has not carried out its order and gives no reason. */
const SILENT = new Set(["absent", "created", "starting", "stopping", "stopped"]);

/**
 * True when a start took too long although its host gives no reason: neither an image that is still being fetched, nor
 * a failure, nor a program that ended at once.
 */
export function isUnanswered({ phase, generation, observed }: Starting & Pick<Instance, "observed">): boolean {
  if (phase !== "starting") return false;
  return observed === undefined || observed.generation !== generation || SILENT.has(observed.state);
}
