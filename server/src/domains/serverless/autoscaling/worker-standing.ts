import type { InstanceFacts } from "../../rental/instances/index.ts";
import type { WorkerPhase } from "./rules/types.ts";
import type { Worker } from "../workers/store.ts";

/** From then on a ready worker that says nothing more is taken for dead. Routers give it nothing well before. */
const SILENT_MS = 60_000;
/** So long a worker may take at least until it is ready, and so many times what others of its group took. */
const START_MS_MIN = 600_000;
const START_MULTIPLE = 4;

/** What the rules of workers look at. */
export type WorkerFacts = Omit<Worker, "tokenSha256">;

/** Whether the container that said that it was ready is the one that runs, and we know where it takes requests. */
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
      // It goes down as soon as it is up.
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

/** Since when it is in its phase, in milliseconds of Unix time. */
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
  /** Whether the worker is to blame, so that others of its group may fare no better. */
  readonly isCounted: boolean;
};

/** What is wrong with a worker although it does not say so itself; undefined when nothing is. */
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
  // Somebody else has its devices: no fault of what it runs.
  if (phase === "scheduled") return { reason: `it got no devices for ${inWords(tookMs)}`, isCounted: false };
  return { reason: `it was not ready ${inWords(tookMs)} after it was ordered to start`, isCounted: true };
}

export type FailureRules = {
  readonly nowMs: number;
  /** Since when we could have heard of it: who cannot listen must not blame others for their silence. */
  readonly listeningSinceMs: number;
  /** How long such a start took others of its group. */
  readonly knownStartMs: number | undefined;
};

const BACK_OFF_FIRST_MS = 10_000;
const BACK_OFF_MAX_MS = 3_600_000;

/** For how long nothing is rented after so many workers of a group failed in a row. */
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
