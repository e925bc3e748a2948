import type { Instance } from "./instance.ts";

/** How long a host may be silent before its instances are shown as out of reach. */
export const SUSPECT_MS = 60_000;

export type ActualStatus =
  | null
  | "created"
  | "loading"
  | "running"
  | "stopped"
  | "exited"
  | "rebooting"
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
export function statusOf(instance: Instance, host: { readonly isReachable: boolean }): Status {
  const { phase, desired } = instance;
  const isOutbid = instance.isBid && (phase === "scheduled" || (phase === "stopping" && desired === "running"));
  const isWanted = desired === "running" && !isOutbid;
  const holds = phase === "starting" || phase === "running" || phase === "stopping";
  return {
    actual_status: actualStatus(instance, host.isReachable, isOutbid),
    intended_status: isWanted ? "running" : "stopped",
    cur_state: holds ? "running" : "stopped",
    next_state: isWanted ? "running" : "stopped",
    status_msg: isOutbid ? "outbid: waiting until this bid is the highest again" : message(instance),
  };
}

function actualStatus(instance: Instance, isReachable: boolean, isOutbid: boolean): ActualStatus {
  const { phase } = instance;
  if (phase === "ending" || phase === "ended") return "destroyed";
  if (!isReachable) return "offline";
  if (phase === "stopped" || (phase === "scheduled" && isOutbid)) return "stopped";
  if (phase === "scheduled") return instance.generation === 0 ? null : "scheduling";
  if (phase === "starting" && instance.phaseCause === "reboot") return "rebooting";
  const seen = instance.observed?.generation === instance.generation ? instance.observed.state : undefined;
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

function message({ observed, generation }: Instance): string | null {
  if (observed === undefined || observed.generation !== generation) return "";
  return observed.statusMsg;
}
