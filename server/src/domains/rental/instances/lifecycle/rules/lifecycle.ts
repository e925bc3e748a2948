export const PHASES = [
  "scheduled",
  "starting",
  "running",
  "yielding",
  "stopping",
  "stopped",
  "ending",
  "ended",
] as const;
/** The state of an instance that the server has committed to. Only `decide` changes it. */
export type Phase = (typeof PHASES)[number];

/** The intent of the owner, or of a rule on the owner's behalf. */
export type DesiredState = "running" | "stopped" | "destroyed";

export type LifecycleEvent =
  | "startRequested"
  | "stopRequested"
  | "destroyRequested"
  | "rebootRequested"
  /** The container is to be created again, from the same settings or changed ones. */
  | "renewalRequested"
  /** The schedule gave the instance devices. */
  | "devicesGranted"
  /** The schedule needs the devices for a higher claim; the instance gets an eviction notice first. */
  | "displaced"
  /** The schedule needs the devices for a higher claim at once, without an eviction notice. */
  | "displacedAtOnce"
  /** The higher claim is gone, or this instance's claim is higher now. */
  | "reprieved"
  /** The host reports the current generation as running. */
  | "containerRunning"
  /** The host reports the current generation as stopped or exited: no process of it is left. */
  | "containerStopped"
  /** The host reports that nothing of the instance is left: the teardown receipt. */
  | "containerAbsent"
  /**
   * The heartbeat lease of the host has certainly run out: its agent has stopped everything, even if no report of that
   * arrives.
   */
  | "hostLost"
  /**
   * The host reports a newer run than the server knows: the database was set back to an earlier state. The instance goes
   * on under the host's generation.
   */
  | "hostAhead"
  /** The instance stayed longer in its phase than the phase allows. */
  | "deadlinePassed";

export type Effect =
  /** Begin a new run under the next generation, or under that of a host that is ahead. */
  | "newGeneration"
  /** Send the host its changed desired set. */
  | "tellAgent"
  /** Free the devices, which are certainly unused. */
  | "releaseDevices"
  /** Release the hold once use is settled: nothing more can become due. */
  | "releaseHold"
  /** Let the schedule review the machine. */
  | "schedule";

/** `rest` is `scheduled` when a run is still wanted, else `stopped`. */
type Target = Phase | "rest";
type Outcome =
  | { readonly to: Target; readonly effects: readonly Effect[] }
  | { readonly ignore: true }
  | { readonly reject: Rejection };
export type Rejection = "no_such_instance" | "not_running" | "under_notice";

const IGNORE = { ignore: true } as const;
const GONE = { reject: "no_such_instance" } as const;
const END = { to: "ending", effects: ["tellAgent"] } as const;
const STOP = { to: "stopping", effects: ["tellAgent"] } as const;
const RESUME = { to: "starting", effects: ["newGeneration", "tellAgent"] } as const;
const VACATE = { to: "rest", effects: ["releaseDevices", "tellAgent", "schedule"] } as const;
const BURY = { to: "ended", effects: ["releaseDevices", "releaseHold", "tellAgent", "schedule"] } as const;

/** Every phase answers every event; leaving a pair out does not compile. */
export const TRANSITIONS = {
  scheduled: {
    startRequested: IGNORE,
    stopRequested: { to: "stopped", effects: ["releaseHold", "tellAgent", "schedule"] },
    destroyRequested: { to: "ending", effects: ["tellAgent", "schedule"] },
    rebootRequested: { reject: "not_running" },
    renewalRequested: { reject: "not_running" },
    devicesGranted: RESUME,
    displaced: IGNORE,
    displacedAtOnce: IGNORE,
    reprieved: IGNORE,
    containerRunning: IGNORE,
    containerStopped: IGNORE,
    containerAbsent: IGNORE,
    hostLost: IGNORE,
    hostAhead: { to: "scheduled", effects: ["tellAgent"] },
    deadlinePassed: IGNORE,
  },
  starting: {
    startRequested: IGNORE,
    stopRequested: STOP,
    destroyRequested: END,
    rebootRequested: IGNORE, // It is on its way into a fresh run already.
    renewalRequested: RESUME, // But of the container that it had.
    devicesGranted: IGNORE,
    displaced: STOP,
    displacedAtOnce: STOP,
    reprieved: IGNORE,
    containerRunning: { to: "running", effects: [] },
    containerStopped: RESUME, // The host fenced itself before the run was confirmed.
    containerAbsent: IGNORE,
    hostLost: IGNORE, // It keeps its devices: the host is not sold while it is away, and resumes when it is back.
    hostAhead: RESUME,
    deadlinePassed: STOP,
  },
  running: {
    startRequested: IGNORE,
    stopRequested: STOP,
    destroyRequested: END,
    rebootRequested: RESUME,
    renewalRequested: RESUME,
    devicesGranted: IGNORE,
    displaced: { to: "yielding", effects: ["tellAgent"] },
    displacedAtOnce: STOP,
    reprieved: IGNORE,
    containerRunning: IGNORE,
    containerStopped: RESUME, // Stopped by the host's own fence, not by us.
    containerAbsent: RESUME,
    hostLost: IGNORE,
    hostAhead: RESUME, // The run that goes on there is a new one here.
    deadlinePassed: IGNORE,
  },
  yielding: {
    startRequested: IGNORE,
    stopRequested: STOP,
    destroyRequested: END,
    rebootRequested: { reject: "under_notice" },
    renewalRequested: { reject: "under_notice" },
    devicesGranted: IGNORE,
    displaced: IGNORE,
    displacedAtOnce: STOP,
    reprieved: { to: "running", effects: ["tellAgent"] },
    containerRunning: IGNORE,
    containerStopped: VACATE, // Its renter's work was saved before the time was over.
    containerAbsent: VACATE,
    hostLost: VACATE,
    hostAhead: STOP,
    deadlinePassed: STOP,
  },
  stopping: {
    startRequested: IGNORE, // The intent is stored; the receipt leads back to the schedule.
    stopRequested: IGNORE,
    destroyRequested: END,
    rebootRequested: { reject: "not_running" },
    renewalRequested: { reject: "not_running" },
    devicesGranted: IGNORE,
    displaced: IGNORE,
    displacedAtOnce: IGNORE,
    reprieved: IGNORE,
    containerRunning: IGNORE,
    containerStopped: VACATE,
    containerAbsent: VACATE,
    hostLost: VACATE,
    hostAhead: STOP,
    deadlinePassed: { to: "stopping", effects: ["tellAgent"] }, // Say it again; only a receipt frees devices.
  },
  stopped: {
    startRequested: { to: "scheduled", effects: ["schedule"] },
    stopRequested: IGNORE,
    destroyRequested: END,
    rebootRequested: { reject: "not_running" },
    renewalRequested: { reject: "not_running" },
    devicesGranted: IGNORE,
    displaced: IGNORE,
    displacedAtOnce: IGNORE,
    reprieved: IGNORE,
    containerRunning: IGNORE,
    containerStopped: IGNORE,
    containerAbsent: IGNORE,
    hostLost: IGNORE,
    hostAhead: { to: "stopped", effects: ["releaseHold", "tellAgent"] },
    deadlinePassed: IGNORE,
  },
  ending: {
    startRequested: GONE,
    stopRequested: GONE,
    destroyRequested: IGNORE,
    rebootRequested: GONE,
    renewalRequested: GONE,
    devicesGranted: IGNORE,
    displaced: IGNORE,
    displacedAtOnce: IGNORE,
    reprieved: IGNORE,
    containerRunning: IGNORE,
    containerStopped: IGNORE,
    containerAbsent: BURY,
    hostLost: BURY, // What is left on the disk is an orphan, removed when the host is back.
    hostAhead: END,
    deadlinePassed: { to: "ending", effects: ["tellAgent"] },
  },
  ended: {
    startRequested: GONE,
    stopRequested: GONE,
    destroyRequested: GONE,
    rebootRequested: GONE,
    renewalRequested: GONE,
    devicesGranted: IGNORE,
    displaced: IGNORE,
    displacedAtOnce: IGNORE,
    reprieved: IGNORE,
    containerRunning: IGNORE,
    containerStopped: IGNORE,
    containerAbsent: IGNORE,
    hostLost: IGNORE,
    hostAhead: IGNORE,
    deadlinePassed: IGNORE,
  },
} as const satisfies Record<Phase, Record<LifecycleEvent, Outcome>>;

/** Phases in which the instance holds its devices. They are free only after the receipt that leads out of these. */
export const HOLDING_PHASES: ReadonlySet<Phase> = new Set(["starting", "running", "yielding", "stopping", "ending"]);
/** Milliseconds that an instance may stay in a phase before `deadlinePassed`; null when it may wait. */
const PHASE_DEADLINE_MS = {
  scheduled: null,
  starting: 3_600_000, // The largest images take tens of minutes on a slow uplink.
  running: null,
  yielding: 0, // The notice says for how long.
  stopping: 60_000,
  stopped: null,
  ending: 60_000,
  ended: null,
} as const satisfies Record<Phase, number | null>;

/**
 * The deadline of a phase that begins now; null when it may last. An eviction notice lasts as long as its rule says.
 */
export function deadlineOf(phase: Phase, now: Date, noticeMs = 0): Date | null {
  const ms = PHASE_DEADLINE_MS[phase];
  return ms === null ? null : new Date(now.getTime() + ms + (phase === "yielding" ? noticeMs : 0));
}

export type Decision =
  | { readonly kind: "move"; readonly to: Phase; readonly effects: readonly Effect[] }
  | { readonly kind: "stay" }
  | { readonly kind: "reject"; readonly code: Rejection };

/** The outcome of an event in a phase. `desired` is the intent after the event. */
export function decide(phase: Phase, event: LifecycleEvent, desired: DesiredState): Decision {
  const outcome: Outcome = TRANSITIONS[phase][event];
  if ("ignore" in outcome) return { kind: "stay" };
  if ("reject" in outcome) return { kind: "reject", code: outcome.reject };
  const isWanted = desired === "running";
  const to = outcome.to === "rest" ? (isWanted ? "scheduled" : "stopped") : outcome.to;
  const isAtRest = outcome.to === "rest" && to === "stopped";
  return { kind: "move", to, effects: isAtRest ? [...outcome.effects, "releaseHold"] : outcome.effects };
}
