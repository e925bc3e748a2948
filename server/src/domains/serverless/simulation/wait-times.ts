import { invariant } from "../../../base/invariant.ts";
import type { Arrival, TrafficResult } from "./types.ts";

/** A request that waits longer is late. */
const LATE_MS = 1_000;

/** Records how long each request waited from its arrival until work on it began. */
export class WaitTimes {
  /** Requests that are not done. */
  openCount = 0;
  readonly servedCounts: Uint8Array;
  readonly #arrivals: readonly Arrival[];
  readonly #waitedMs: Float64Array;
  readonly #countedFromMs: number;

  constructor(arrivals: readonly Arrival[], countedFromMs: number) {
    this.#arrivals = arrivals;
    this.#countedFromMs = countedFromMs;
    this.#waitedMs = new Float64Array(arrivals.length).fill(Infinity);
    this.servedCounts = new Uint8Array(arrivals.length);
  }

  begin(request: number, nowMs: number): void {
    const arrival = this.#arrivals[request];
    invariant(arrival !== undefined, "only a request that came is begun");
    this.#waitedMs[request] = nowMs - arrival.atMs;
  }

  end(request: number): void {
    this.servedCounts[request] = (this.servedCounts[request] ?? 0) + 1;
    this.openCount -= 1;
  }

  summary(): Pick<TrafficResult, "requestCount" | "lateShare" | "waitMs" | "servedCounts"> {
    const first = this.#arrivals.findIndex(({ atMs }) => atMs >= this.#countedFromMs);
    const counted = this.#waitedMs.slice(first === -1 ? this.#arrivals.length : first).toSorted();
    const at = (share: number) => counted[Math.min(counted.length - 1, Math.floor(counted.length * share))] ?? 0;
    const lateCount = counted.reduce((count, waitedMs) => count + (waitedMs > LATE_MS ? 1 : 0), 0);
    return {
      requestCount: counted.length,
      lateShare: counted.length === 0 ? 0 : lateCount / counted.length,
      waitMs: { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) },
      servedCounts: this.servedCounts,
    };
  }
}
