import { setTimeout as realTime } from "node:timers/promises";
import type { Clock } from "../src/base/clock.ts";

type Timer = { dueMs: number; readonly everyMs: number | undefined; readonly run: () => void };

/** A clock that stands still until a test moves it. */
export class ManualClock implements Clock {
  #elapsedMs = 1_000_000;
  #startMs = Date.UTC(2030, 0, 1);
  readonly #timers = new Set<Timer>();
  readonly #settle: () => Promise<void>;

  /** `settle` lets everything else have its turn between two timers: sockets and promises that are ready, unless given. */
  constructor(settle: () => Promise<void> = otherWork) {
    this.#settle = settle;
  }

  now(): Date {
    return new Date(this.#startMs + this.#elapsedMs);
  }

  /** Somebody sets the wall clock; the time that passes is the same. */
  jump(ms: number): void {
    this.#startMs += ms;
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        this.#timers.delete(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer: Timer = { dueMs: this.#elapsedMs + ms, everyMs: undefined, run: done };
      this.#timers.add(timer);
      signal?.addEventListener("abort", done, { once: true });
    });
  }

  every(ms: number, run: () => void): () => void {
    const timer: Timer = { dueMs: this.#elapsedMs + ms, everyMs: ms, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Moves time on, running what falls due in order; between two timers everything that is ready gets its turn. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#elapsedMs + ms;
    for (;;) {
      await this.#settle();
      const next = [...this.#timers].reduce<Timer | undefined>(
        (first, timer) => (first === undefined || timer.dueMs < first.dueMs ? timer : first),
        undefined,
      );
      if (!next || next.dueMs > endMs) break;
      this.#elapsedMs = Math.max(this.#elapsedMs, next.dueMs);
      if (next.everyMs === undefined) this.#timers.delete(next);
      else next.dueMs += next.everyMs;
      next.run();
    }
    this.#elapsedMs = endMs;
    await this.#settle();
  }

  /** Moves time on in small steps until `look` is satisfied. Real input and output gets its turn between the steps. */
  async until(what: string, look: () => boolean, limitMs = 120_000, stepMs = 20): Promise<void> {
    for (let passed = 0; passed < limitMs; passed += stepMs) {
      if (look()) return;
      await this.advance(stepMs);
    }
    throw new Error(`never came: ${what}`);
  }
}

function otherWork(): Promise<void> {
  return realTime(0);
}
