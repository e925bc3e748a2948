import { formatDollars } from "../../../../base/money.ts";
import type { Instance } from "../instance.ts";
import type { Rank } from "../../../supply/market/for-instances.ts";

/** Silence of a host after which its instances are shown as out of reach. */
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
  readonly intended_status: "running" | "stopped" | "destroyed";
  readonly cur_state: "running" | "stopped";
  readonly next_state: "running" | "stopped";
  readonly status_msg: string | null;
};

/** The facts besides the instance that its status depends on. */
export type Sight = {
  readonly isReachable: boolean;
  readonly now: Date;
  readonly note?: string | undefined;
  /** The rank in the schedule of its machine; undefined for an instance without a claim that could be taken from it. */
  readonly rank?: Rank | undefined;
};

/**
 * The status that users see, computed from desired state, phase, observed state and the host's presence, and stored
 * nowhere. An outbid instance (`isOutbidNow`) shows stopped everywhere, as clients expect, although it is still wanted
 * and resumes by itself.
 */
export function statusOf(instance: Instance, sight: Sight): Status {
  const { phase, desired } = instance;
  const isOutbid = isOutbidNow(instance, sight.rank);
  const isWanted = desired === "running" && !isOutbid;
  const intent = isWanted ? "running" : "stopped";
  const holds = phase === "starting" || phase === "running" || phase === "yielding" || phase === "stopping";
  const text = scheduleMessage(instance, isOutbid, sight) ?? message(instance, sight.note);
  return {
    actual_status: actualStatus(instance, sight.isReachable, isOutbid),
    intended_status: isOver(instance) ? "destroyed" : intent,
    cur_state: holds ? "running" : "stopped",
    next_state: isWanted && phase !== "yielding" ? "running" : "stopped",
    status_msg: holds ? withProblem(text, instance.deviceProblem) : text,
  };
}

/**
 * True for a bid that was displaced or never won; false for one that only waits until devices that are kept for it are
 * free.
 */
function isOutbidNow({ isBid, phase, desired }: Instance, rank: Rank | undefined): boolean {
  if (!isBid) return false;
  return (phase === "scheduled" && rank?.isServed !== true) || (phase === "stopping" && desired === "running");
}

/** The reason why it does not run, or not for long; undefined when the schedule is not the reason. */
function scheduleMessage(instance: Instance, isOutbid: boolean, { now, rank }: Sight): string | undefined {
  if (instance.phase === "yielding") {
    const who = instance.phaseCause === "on_demand" ? "outbid by an on-demand rental" : "outbid";
    const seconds = secondsUntil(instance.deadlineAt?.getTime() ?? 0, now);
    return `${who}: stops in ${seconds} s; its data is kept and it resumes by itself`;
  }
  if (!isOutbid) return instance.phase === "scheduled" ? "waiting until its devices are free" : undefined;
  if (rank?.restsUntilMs !== undefined) {
    const seconds = secondsUntil(rank.restsUntilMs, now);
    if (rank.isResting) return `outbid: resumes by itself, in ${seconds} s at the earliest`;
    return `outbid: waiting until this bid is the highest again; no bid would run in the next ${seconds} s`;
  }
  const bid = rank?.bidToRunNanos;
  if (bid === undefined) return "outbid: waiting until an on-demand rental ends";
  if (rank?.isServed === true || bid <= instance.priceNanosPerHour) return "outbid: resumes by itself in a moment";
  return `outbid: waiting until this bid is the highest again; $${formatDollars(bid)} an hour would run now`;
}

function secondsUntil(ms: number, now: Date): number {
  return Math.max(0, Math.ceil((ms - now.getTime()) / 1000));
}

function isOver({ phase }: Instance): boolean {
  return phase === "ending" || phase === "ended";
}

/** True for an instance that was rented stopped and has never been started. */
function isUntouched({ generation, phaseCause }: Instance): boolean {
  return generation === 0 && phaseCause === "created";
}

function actualStatus(instance: Instance, isHostReachable: boolean, isOutbid: boolean): ActualStatus {
  const { phase } = instance;
  if (isOver(instance)) return "destroyed";
  if (!isHostReachable) return "offline";
  if (phase === "stopped" && isUntouched(instance)) return "created";
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

/** The word for a run that replaces another in place, until it runs or its host reports that it cannot. */
const IN_PLACE: Readonly<Record<string, (seen: string | undefined) => ActualStatus | undefined>> = {
  reboot: (seen) => (hasTrouble(seen) ? undefined : "rebooting"),
  // The image is pulled and the container created as for a new instance, and the status shows it.
  recycle: renewing,
  update_template: renewing,
};

function renewing(seen: string | undefined): ActualStatus | undefined {
  return hasTrouble(seen) || seen === "pulling" || seen === "starting" ? undefined : "recycling";
}

function hasTrouble(seen: string | undefined): boolean {
  return seen === "exited" || seen === "failed";
}

/** A sick GPU is shown beside every other message, as long as the instance holds it. */
function withProblem(text: string | null, problem: string): string | null {
  return problem === "" ? text : [text, problem].filter(Boolean).join("; ");
}

/** A note on a running task replaces the host's message, but hides no reason why the instance does not run. */
function message({ observed, generation }: Instance, note: string | undefined): string | null {
  const isCurrent = observed !== undefined && observed.generation === generation;
  if (note !== undefined && !(isCurrent && hasTrouble(observed.state))) return note;
  return isCurrent ? observed.statusMsg : "";
}
