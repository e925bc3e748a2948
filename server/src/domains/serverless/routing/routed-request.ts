import type { InstanceId } from "../../../base/ids.ts";

/** A worker as routing sees it. */
export type RoutableWorker = {
  readonly id: InstanceId;
  /** The URL at which it takes requests. */
  readonly url: string;
  /** Units a second that it is expected to serve. */
  readonly perf: number;
  readonly isReady: boolean;
  readonly isDraining: boolean;
  /** Made from an earlier recipe than its group has now: used only when no up-to-date worker can be. */
  readonly isOutdated: boolean;
  /** Its last report to any server; undefined if there was none since it started. */
  readonly report: { readonly atMs: number; readonly load: number; readonly count: number } | undefined;
};

/** The requests that this process gave to one worker, and the load that other servers gave to it as far as known. */
export type WorkerSlot = {
  worker: RoutableWorker;
  place: number;
  readonly requests: Set<RoutedRequest>;
  /** Total load of `requests`. */
  load: number;
  /** Load given by other servers, or by this one before it was restarted, according to reports. */
  foreignLoad: number;
  foreignCount: number;
  /** The number of the last request that this process gave to it. */
  reqnum: number;
  reportedAtMs: number;
};

/**
 * A request between its first poll and its end. `waiting` is in the queue; `reserved` has a worker that its client
 * was not told yet; `given` counts as load of its worker until that worker has done it.
 */
export type RoutedRequest = {
  readonly idx: number;
  /** Requests are served in the order of their first arrival, also after coming back. */
  readonly sequence: number;
  cost: number;
  replayTimeoutMs: number;
  state: "waiting" | "reserved" | "given";
  /** Its client is connected and gets the worker at once. */
  isAttended: boolean;
  /** Its client knows its number, and can come back with it. */
  isTold: boolean;
  /** It was not served at once. */
  isHeld: boolean;
  /** The last time at which its client was connected. */
  seenAtMs: number;
  /** The time since which it waits for a worker. */
  queuedAtMs: number;
  slot: WorkerSlot | undefined;
  /** The worker that did not serve it. */
  avoided: WorkerSlot | undefined;
  assignedAtMs: number;
  /**
   * The expected time until its worker has done it and all requests before it; `isFirstOfWorker` if there were none.
   */
  expectedMs: number;
  isFirstOfWorker: boolean;
  /** Its neighbour in the queue. */
  previous: RoutedRequest | undefined;
  next: RoutedRequest | undefined;
};
