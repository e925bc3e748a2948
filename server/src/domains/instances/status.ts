import type { Instance } from "./instance.ts";

/** How long a host may be silent before its instances are shown as out of reach. */
const SUSPECT_MS = 60_000;

export function isReachable(machine: { readonly isConnected: boolean; readonly lastSeenAt: Date }, now: Date): boolean {
  return machine.isConnected || now.getTime() - machine.lastSeenAt.getTime() < SUSPECT_MS;
}

export type ActualStatus =
  | null
  | "created"
  | "loading"
  | "running"
  | "stopped"
  | "exited"
  | "rebooting"
  | "recycling"
  | "scheduling"
  | "offline"
  | "destroyed";

export type Status = {
  readonly actual_status: ActualStatus;
  readonly intended_status: "running" | "stopped";
  readonly cur_state: "running" | "stopped";
  readonly next_state: "running" | "stopped";
  readonly status_msg: string | null;
};

/**
 * What users see (semantics.md §2), computed from intent, commitment, observation and the host's presence, and stored
 * nowhere. An outbid instance shows stopped everywhere (§9.3 rule 8), although it is still wanted and resumes by itself.
 */
export function statusOf(
  instance: Instance,
  seen: { readonly isReachable: boolean; readonly note?: string | undefined },
): Status {
  const { phase, desired } = instance;
  const isOutbid = instance.isBid && (phase === "scheduled" || (phase === "stopping" && desired === "running"));
  const isWanted = desired === "running" && !isOutbid;
  const holds = phase === "starting" || phase === "running" || phase === "stopping";
  const text = isOutbid ? "outbid: waiting until this bid is the highest again" : message(instance, seen.note);
  return {
    actual_status: actualStatus(instance, seen.isReachable, isOutbid),
    intended_status: isWanted ? "running" : "stopped",
    cur_state: holds ? "running" : "stopped",
    next_state: isWanted ? "running" : "stopped",
    status_msg: holds ? withProblem(text, instance.deviceProblem) : text,
  };
}

function actualStatus(instance: Instance, isHostReachable: boolean, isOutbid: boolean): ActualStatus {
  const { phase } = instance;
  if (phase === "ending" || phase === "ended") return "destroyed";
  if (!isHostReachable) return "offline";
  if (phase === "stopped" || (phase === "scheduled" && isOutbid)) return "stopped";
  if (phase === "scheduled") return instance.generation === 0 ? null : "scheduling";
  const seen = instance.observed?.generation === instance.generation ? instance.observed.state : undefined;
  const inPlace = phase === "starting" ? IN_PLACE[instance.phaseCause]?.(seen) : undefined;
  if (inPlace !== undefined) return inPlace;
  switch (seen) {
    case "running":
    case "stopping":
      return "running";
    case "exited":
      return "exited";
    case "created":
    case "failed":
      return "created";
    case "pulling":
    case "starting":
      return "loading";
    case "stopped":
    case "absent":
      return phase === "stopping" ? "stopped" : "loading";
    case undefined:
      return instance.generation <= 1 ? null : "loading";
    default:
      return "loading";
  }
}

/** What a run that replaces another in place is called until it is up, or until its host says that it cannot be. */
const IN_PLACE: Readonly<Record<string, (seen: string | undefined) => ActualStatus | undefined>> = {
  reboot: (seen) => (hasTrouble(seen) ? undefined : "rebooting"),
  // The image is pulled and the container made as for a new instance, which shows.
  recycle: renewing,
  update_template: renewing,
};

function renewing(seen: string | undefined): ActualStatus | undefined {
  return hasTrouble(seen) || seen === "pulling" || seen === "starting" ? undefined : "recycling";
}

function hasTrouble(seen: string | undefined): boolean {
  return seen === "exited" || seen === "failed";
}

/** A sick GPU is said beside everything else, as long as the instance holds it. */
function withProblem(text: string | null, problem: string): string | null {
  return problem === "" ? text : [text, problem].filter(Boolean).join("; ");
}

/** A note on what is done to it stands in for the host's word, but hides no reason why it does not run. */
function message({ observed, generation }: Instance, note: string | undefined): string | null {
  const isCurrent = observed !== undefined && observed.generation === generation;
  if (note !== undefined && !(isCurrent && hasTrouble(observed.state))) return note;
  return isCurrent ? observed.statusMsg : "";
}
