import type { WorkerSlot } from "./worker-slots.ts";

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
