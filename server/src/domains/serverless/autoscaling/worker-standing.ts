import type { InstanceFacts } from "../../rental/instances/for-serverless.ts";
import type { WorkerPhase } from "./rules/types.ts";
import type { Worker } from "../workers/store.ts";

/** A ready worker that is silent for this long is taken for dead. Routers stop giving it requests well before. */
const SILENT_MS = 60_000;
/**
 * The least time that a worker has to become ready; the second constant multiplies the usual start time of its group.
 */
const START_MS_MIN = 600_000;
const START_MULTIPLE = 4;

/** The fields of a worker that the rules read. */
export type WorkerFacts = Omit<Worker, "tokenSha256">;

/** True if the container that reported to be ready is the one that runs, and its address is known. */
export function isServing(worker: WorkerFacts, instance: InstanceFacts): boolean {
  const isUp = instance.phase === "running" || instance.phase === "starting";
  const isSame = worker.readyAt !== undefined && worker.readyGeneration === instance.generation;
  return isUp && isSame && worker.url !== "" && instance.desired === "running";
}

export function phaseOf(worker: WorkerFacts, instance: InstanceFacts): WorkerPhase {
  if (worker.failure !== "") return "failed";
  const isAgain = worker.firstStartMs !== undefined;
  switch (instance.phase) {
    case "scheduled":
      return isAgain ? "starting" : "ordered";
    case "starting":
    case "running":
      if (isServing(worker, instance)) return "ready";
      // It stops as soon as it is up.
      if (instance.desired !== "running") return "stopping";
      if (isAgain) return "starting";
      return instance.phase === "starting" ? "ordered" : "loading";
    case "yielding":
    case "stopping":
    case "ending":
      return "stopping";
    case "stopped":
    case "ended":
      return "stopped";
  }
}

/** The time since which it is in its phase, in milliseconds of Unix time. */
export function phaseSinceMs(worker: WorkerFacts, instance: InstanceFacts, phase: WorkerPhase): number {
  switch (phase) {
    case "ordered":
    case "starting":
      return (worker.startedAt ?? instance.phaseSinceAt).getTime();
    case "ready":
      return (worker.readyAt ?? instance.phaseSinceAt).getTime();
    case "failed":
      return (worker.failedAt ?? instance.phaseSinceAt).getTime();
    case "loading":
    case "stopping":
    case "stopped":
      return instance.phaseSinceAt.getTime();
  }
}

export type Failure = {
  readonly reason: string;
  /** True if the worker itself is to blame, so that others of its group may fail as well. */
  readonly isCounted: boolean;
};

/** The failure of a worker that did not report one itself; undefined when there is none. */
export function failureOf(
  worker: WorkerFacts,
  instance: InstanceFacts,
  { nowMs, listeningSinceMs, knownStartMs }: FailureRules,
): Failure | undefined {
  if (worker.failure !== "" || instance.desired !== "running") return undefined;
  const { observed, phase } = instance;
  const isRunning = phase === "starting" || phase === "running";
  if (isRunning && (observed?.state === "exited" || observed?.state === "failed")) {
    const said = observed.statusMsg.trim() === "" ? "its host gives no reason" : observed.statusMsg.trim();
    const what = observed.state === "exited" ? "its container ended by itself" : "its container could not be started";
    return { reason: `${what}: ${said}`, isCounted: true };
  }
  if (isServing(worker, instance)) {
    const heardMs = Math.max(timeOf(worker.reportedAt), timeOf(worker.readyAt), listeningSinceMs);
    const silentMs = nowMs - heardMs;
    if (silentMs <= SILENT_MS) return undefined;
    return { reason: `it has not reported for ${inWords(silentMs)}`, isCounted: true };
  }
  if (worker.startedAt === undefined) return undefined;
  const limitMs = Math.max(START_MS_MIN, START_MULTIPLE * (knownStartMs ?? 0));
  const tookMs = nowMs - worker.startedAt.getTime();
  if (tookMs <= limitMs) return undefined;
  // Another instance has its devices: the fault is not in its recipe.
  if (phase === "scheduled") return { reason: `it got no devices for ${inWords(tookMs)}`, isCounted: false };
  return { reason: `it was not ready ${inWords(tookMs)} after it was ordered to start`, isCounted: true };
}

export type FailureRules = {
  readonly nowMs: number;
  /** The time from which this server could have heard it: silence before does not count against the worker. */
  readonly listeningSinceMs: number;
  /** The usual duration of such a start in its group. */
  readonly knownStartMs: number | undefined;
};

const BACK_OFF_FIRST_MS = 10_000;
const BACK_OFF_MAX_MS = 3_600_000;

/** The pause before the group rents again, after this many failures in a row. */
export function backOffMs(failureCount: number): number {
  const doublings = Math.min(Math.max(failureCount - 1, 0), 30);
  return Math.min(BACK_OFF_FIRST_MS * 2 ** doublings, BACK_OFF_MAX_MS);
}

/** Seconds up to two minutes, then minutes. */
export function inWords(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 120 ? `${seconds} seconds` : `${Math.round(seconds / 60)} minutes`;
}

function timeOf(at: Date | undefined): number {
  return at?.getTime() ?? Number.NEGATIVE_INFINITY;
}
