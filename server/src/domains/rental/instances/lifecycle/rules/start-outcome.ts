import type { ObservedInstance } from "../../../../../../../protocol/index.ts";
import type { Instance } from "../../instance.ts";

type Seen = Pick<ObservedInstance, "generation" | "state" | "fault">;
type Starting = Pick<Instance, "phase" | "generation">;

/**
 * What a host's report says of the start of a run; undefined while it is not decided, and where it is nobody's fault but
 * the image's. Only the host's own agent can say that the host is to blame: a renter's program cannot.
 */
export function outcomeOf(seen: Seen, instance: Starting): "begun" | "failed" | undefined {
  if (instance.phase !== "starting" || seen.generation !== instance.generation) return undefined;
  if (seen.state === "running") return "begun";
  return seen.state === "failed" && seen.fault === "host" ? "failed" : undefined;
}

/** States of a host that has not done what it was told, and gives no reason for it. */
const SILENT = new Set(["absent", "created", "starting", "stopping", "stopped"]);

/**
 * Whether a run whose time is over has not begun although its host gives no reason: neither an image that is still being
 * fetched, nor a failure, nor a program that ended at once.
 */
export function isUnanswered({ phase, generation, observed }: Starting & Pick<Instance, "observed">): boolean {
  if (phase !== "starting") return false;
  return observed === undefined || observed.generation !== generation || SILENT.has(observed.state);
}
