import type { LoadSample } from "../autoscaling/rules/types.ts";

/** Traffic of one second, with the total wait of the requests that got a worker in it. */
export type RoutedSecond = LoadSample & { readonly waitMs: number };

type Count = { requestCount: number; load: number; waitedCount: number; waitMs: number; waitMsMax: number };

/** Counts traffic by the second until it is taken. */
export class LoadCounter {
  #seconds = new Map<number, Count>();
  #latest = { secondMs: -Infinity, load: 0 };

  noteArrival(cost: number, nowMs: number): void {
    const count = this.#countOf(nowMs);
    count.requestCount += 1;
    count.load += cost;
    const secondMs = startOfSecond(nowMs);
    if (this.#latest.secondMs !== secondMs) this.#latest = { secondMs, load: 0 };
    this.#latest.load += cost;
  }

  noteWait(waitMs: number, nowMs: number): void {
    const count = this.#countOf(nowMs);
    const whole = Math.max(0, Math.round(waitMs));
    count.waitedCount += 1;
    count.waitMs += whole;
    count.waitMsMax = Math.max(count.waitMsMax, whole);
  }

  /** Load that arrived within the current second. */
  loadOfSecond(nowMs: number): number {
    return this.#latest.secondMs === startOfSecond(nowMs) ? this.#latest.load : 0;
  }

  /** Returns the traffic by second since the last call. */
  take(): readonly RoutedSecond[] {
    const taken = [...this.#seconds].map(([secondMs, count]) => ({ secondMs, ...count }));
    this.#seconds = new Map();
    return taken;
  }

  /** Puts back taken traffic that could not be stored. */
  putBack(samples: readonly RoutedSecond[]): void {
    for (const { secondMs, requestCount, load, waitedCount, waitMs, waitMsMax } of samples) {
      const count = this.#countOf(secondMs);
      count.requestCount += requestCount;
      count.load += load;
      count.waitedCount += waitedCount;
      count.waitMs += waitMs;
      count.waitMsMax = Math.max(count.waitMsMax, waitMsMax);
    }
  }

  #countOf(nowMs: number): Count {
    const secondMs = startOfSecond(nowMs);
    let count = this.#seconds.get(secondMs);
    if (count === undefined) {
      count = { requestCount: 0, load: 0, waitedCount: 0, waitMs: 0, waitMsMax: 0 };
      this.#seconds.set(secondMs, count);
    }
    return count;
  }
}

function startOfSecond(nowMs: number): number {
  return Math.floor(nowMs / 1000) * 1000;
}
