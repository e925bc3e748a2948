import type { InstanceId } from "../../../base/ids.ts";

/** A worker as routing sees it. */
export type RoutableWorker = {
  readonly id: InstanceId;
  /** Where it takes requests. */
  readonly url: string;
  /** Units a second that it is believed to serve. */
  readonly perf: number;
  readonly isReady: boolean;
  readonly isDraining: boolean;
  /** Made from an earlier recipe than its group has now: used only when no other can be. */
  readonly isOutdated: boolean;
  /** Its last report to whichever server; undefined: none since it started. */
  readonly report: { readonly atMs: number; readonly load: number; readonly count: number } | undefined;
};

/** What this process gave to one worker, and what it knows that others gave to it. */
export type WorkerSlot = {
  worker: RoutableWorker;
  place: number;
  readonly requests: Set<RoutedRequest>;
  /** Of `requests`. */
  load: number;
  /** Given by other servers, or by this one before it was started anew, as far as reports say. */
  foreignLoad: number;
  foreignCount: number;
  /** Of what this process gave it last. */
  reqnum: number;
  reportedAtMs: number;
};

/**
 * A request between its first poll and its end. `waiting` stands in line; `reserved` has a worker that its client was not
 * told yet; `given` counts as load of its worker until that one has done it.
 */
export type RoutedRequest = {
  readonly idx: number;
  /** Who came first is served first, also after coming back. */
  readonly sequence: number;
  cost: number;
  replayTimeoutMs: number;
  state: "waiting" | "reserved" | "given";
  /** Its client is on the line and hears at once. */
  isAttended: boolean;
  /** Its client knows its number, and can come back with it. */
  isTold: boolean;
  /** It was not served at once. */
  isHeld: boolean;
  /** When its client was there last. */
  seenAtMs: number;
  /** Since when it wants a worker. */
  queuedAtMs: number;
  slot: WorkerSlot | undefined;
  /** The worker that it comes back from. */
  avoided: WorkerSlot | undefined;
  assignedAtMs: number;
  /** How long its worker would take for it and all before it, and whether there was anything before it. */
  expectedMs: number;
  isFirstOfWorker: boolean;
  /** Of the line that it stands in. */
  previous: RoutedRequest | undefined;
  next: RoutedRequest | undefined;
};
