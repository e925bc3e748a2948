import type { Clock } from "../../../base/clock.ts";
import type { EndpointGroupId } from "../../../base/ids.ts";
import { EndpointRouter, type Assignment, type RouterSettings } from "./endpoint-router.ts";
import { RequestNumbers } from "./request-numbers.ts";
import type { RoutedEndpoint } from "./route-store.ts";
import type { RoutableWorker } from "./routed-request.ts";

/** Published default of `max_queue_time`. */
const MAX_QUEUE_TIME_S = 30;
/** Workers report at least every ten seconds: two and a half reports are missing by then. */
export const SILENT_AFTER_MS = 25_000;
/** The places before a request are counted up to this number. */
const PLACES_COUNTED = 1_000;

export type RouteOutcome =
  | { readonly kind: "given"; readonly assignment: Assignment }
  /** The client is to ask again under this number; `status` says in words why the request waits. */
  | { readonly kind: "held"; readonly requestIdx: number; readonly status: string }
  | { readonly kind: "unknown" | "full" | "gone" | "stopped" };

/** An endpoint as a request names it: by its name, or by its id. */
export type WantedEndpoint = string | EndpointGroupId;

/** One endpoint in this process: its router, and the clients whose calls are held open. */
export class RoutedGroup {
  endpoint: RoutedEndpoint;
  readonly router: EndpointRouter;
  readonly numbers = new RequestNumbers();
  /**
   * Callbacks of clients whose calls are held open: called with the worker, or with undefined when another call took
   * over or the endpoint ended.
   */
  readonly #holders = new Map<number, (assignment: Assignment | undefined) => void>();
  #workers: readonly RoutableWorker[] = [];
  isGone = false;
  usedAtMs: number;
  loadedAtMs: number;
  pressedAtMs = -Infinity;
  supplying: Promise<void> | undefined;
  learning: Promise<void> | undefined;

  constructor(endpoint: RoutedEndpoint, nowMs: number) {
    this.endpoint = endpoint;
    this.usedAtMs = nowMs;
    this.loadedAtMs = nowMs;
    this.router = new EndpointRouter(settingsOf(endpoint), {
      numbers: this.numbers,
      onGiven: (assignment) => this.#holders.get(assignment.requestIdx)?.(assignment),
    });
  }

  isNamed(wanted: WantedEndpoint): boolean {
    return (typeof wanted === "string" ? this.endpoint.name : this.endpoint.id) === wanted;
  }

  /** Takes in the present state of the database. */
  learn(endpoint: RoutedEndpoint, workers: readonly RoutableWorker[], nowMs: number): void {
    this.endpoint = endpoint;
    this.#workers = workers;
    this.loadedAtMs = nowMs;
    this.router.configure(settingsOf(endpoint), nowMs);
    this.router.setWorkers(workers, nowMs);
  }

  /** Ends the endpoint: no request is routed here any more. */
  end(): void {
    this.isGone = true;
    this.release();
  }

  /** Tells every client with a held call to ask again; their places are kept. */
  release(): void {
    for (const answer of this.#holders.values()) answer(undefined);
  }

  /** Waits for the worker of a held request, as long as its client may be kept waiting and stays connected. */
  async hold(
    requestIdx: number,
    { clock, holdMs, hungUp }: { readonly clock: Clock; readonly holdMs: number; readonly hungUp: AbortSignal },
  ): Promise<RouteOutcome> {
    // A client that asks twice at once is answered in the second call: the first call is told to ask again.
    this.#holders.get(requestIdx)?.(undefined);
    const over = new AbortController();
    const given = new Promise<Assignment | undefined>((resolve) => {
      const answer = (assignment: Assignment | undefined) => {
        if (this.#holders.get(requestIdx) === answer) this.#holders.delete(requestIdx);
        over.abort();
        resolve(assignment);
      };
      this.#holders.set(requestIdx, answer);
      const giveUp = () => {
        if (this.#holders.get(requestIdx) !== answer) return;
        this.router.leave(requestIdx, { isTold: hungUp.aborted !== true }, clock.now().getTime());
        answer(undefined);
      };
      hungUp.addEventListener("abort", giveUp, { signal: over.signal });
      void clock.sleep(holdMs, over.signal).then(giveUp);
      if (hungUp.aborted === true) giveUp();
    });
    const assignment = await given;
    if (assignment !== undefined) return { kind: "given", assignment };
    return this.isGone ? { kind: "gone" } : { kind: "held", requestIdx, status: this.#statusOf(requestIdx) };
  }

  #statusOf(requestIdx: number): string {
    const before = this.router.countBefore(requestIdx, PLACES_COUNTED);
    return [describePlace(before), describeWorkers(this.#workers), describeState(this.endpoint)]
      .filter((part) => part !== "")
      .join("; ");
  }
}

function describePlace(before: number | undefined): string {
  if (before === undefined) return "A worker has become free: ask again";
  if (before === 0) return "Next in line for a worker";
  return before < PLACES_COUNTED ? `Waiting, ${before} before it in line` : `Waiting, over ${before} before it in line`;
}

function describeWorkers(workers: readonly RoutableWorker[]): string {
  const ready = workers.filter(({ isReady, isDraining }) => isReady && !isDraining).length;
  const others = workers.length - ready;
  if (workers.length === 0) return "no worker yet";
  const busy = `${ready} of ${workers.length} workers ${ready === 1 ? "is" : "are"} ready`;
  if (ready === 0) return `${others} ${others === 1 ? "worker is" : "workers are"} not ready`;
  return `${busy} and all of these have as much as they can take`;
}

function describeState({ state }: RoutedEndpoint): string {
  return state === "suspended" ? "the endpoint is suspended, so no worker is added" : "";
}

function settingsOf({ maxQueueTimeS, targetUtil }: RoutedEndpoint): RouterSettings {
  return {
    maxQueueTimeMs: (maxQueueTimeS ?? MAX_QUEUE_TIME_S) * 1000,
    silentAfterMs: SILENT_AFTER_MS,
    targetUtil,
  };
}
