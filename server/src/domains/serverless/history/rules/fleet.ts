import type { Situation, WorkerPhase, WorkerView } from "../../autoscaling/rules/types.ts";

/** The workers of an endpoint at one moment, by state. */
export type Fleet = {
  readonly ready: number;
  readonly starting: number;
  readonly stopping: number;
  readonly stopped: number;
  readonly failed: number;
  /** Units a second. */
  readonly readyPerf: number;
  readonly startingPerf: number;
  readonly stoppedPerf: number;
  readonly queued: number;
  readonly nanosPerHour: bigint;
};

type State = "ready" | "starting" | "stopping" | "stopped" | "failed";

const STATES: Readonly<Record<WorkerPhase, State>> = {
  ordered: "starting",
  loading: "starting",
  starting: "starting",
  ready: "ready",
  stopping: "stopping",
  stopped: "stopped",
  failed: "failed",
};

/** A worker that takes no more requests serves what it has and counts as one that stops. */
function stateOf({ phase, draining }: WorkerView): State {
  return phase === "ready" && draining !== undefined && draining.to !== "update" ? "stopping" : STATES[phase];
}

/** The workers of a situation by state, with what they serve and cost. A speed that nobody knows yet counts as none. */
export function fleetOf({ workers, queue }: Pick<Situation, "workers" | "queue">): Fleet {
  const count = (state: State) => workers.filter((worker) => stateOf(worker) === state).length;
  const perf = (state: State) =>
    workers.reduce((sum, worker) => {
      return stateOf(worker) === state ? sum + (worker.observedPerf ?? worker.claimedPerf ?? 0) : sum;
    }, 0);
  return {
    ready: count("ready"),
    starting: count("starting"),
    stopping: count("stopping"),
    stopped: count("stopped"),
    failed: count("failed"),
    readyPerf: perf("ready"),
    startingPerf: perf("starting"),
    stoppedPerf: perf("stopped"),
    queued: queue.requestCount,
    nanosPerHour: workers.reduce((sum, worker) => sum + costOf(worker), 0n),
  };
}

function costOf({ phase, priceNanosPerHour, coldPriceNanosPerHour }: WorkerView): bigint {
  return phase === "stopped" ? coldPriceNanosPerHour : priceNanosPerHour;
}

/** Queues change with each request: a change of them alone is stored every five seconds. */
const QUEUE_EVERY_MS = 5_000;

/** True when a fleet differs from the last that was stored so that it is to be stored. */
export function isWorthStoring(
  now: Fleet,
  last: { readonly fleet: Fleet; readonly atMs: number } | undefined,
  nowMs: number,
): boolean {
  if (last === undefined) return true;
  const { queued, ...rest } = now;
  const { queued: lastQueued, ...lastRest } = last.fleet;
  const names = Object.keys(rest) as readonly (keyof typeof rest)[];
  if (names.some((name) => rest[name] !== lastRest[name])) return true;
  return queued !== lastQueued && nowMs - last.atMs >= QUEUE_EVERY_MS;
}
