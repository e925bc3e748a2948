import { setTimeout as realTime } from "node:timers/promises";
import type { Clock } from "../src/base/clock.ts";

type Timer = { due_ms: number; readonly every_ms: number | undefined; readonly run: () => void };

/** A clock that stands still until a test moves it. */
export class ManualClock implements Clock {
  #elapsed_ms = 1_000_000;
  #start_ms = Date.UTC(2030, 0, 1);
  readonly #timers = new Set<Timer>();
  readonly #settle: () => Promise<void>;

  /** `settle` lets everything else have its turn between two timers: sockets and promises that are ready, unless given. */
  constructor(settle: () => Promise<void> = otherWork) {
    this.#settle = settle;
  }

  now(): Date {
    return new Date(this.#start_ms + this.#elapsed_ms);
  }

  /** Somebody sets the wall clock; the time that passes is the same. */
  jump(ms: number): void {
    this.#start_ms += ms;
  }

  monotonicMs(): number {
    return this.#elapsed_ms;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        this.#timers.delete(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer: Timer = { due_ms: this.#elapsed_ms + ms, every_ms: undefined, run: done };
      this.#timers.add(timer);
      signal?.addEventListener("abort", done, { once: true });
    });
  }

  every(ms: number, run: () => void): () => void {
    const timer: Timer = { due_ms: this.#elapsed_ms + ms, every_ms: ms, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Moves time on, running what falls due in order; between two timers everything that is ready gets its turn. */
  async advance(ms: number): Promise<void> {
    const end_ms = this.#elapsed_ms + ms;
    for (;;) {
      await this.#settle();
      const next = [...this.#timers].reduce<Timer | undefined>(
        (first, timer) => (first === undefined || timer.due_ms < first.due_ms ? timer : first),
        undefined,
      );
      if (!next || next.due_ms > end_ms) break;
      this.#elapsed_ms = Math.max(this.#elapsed_ms, next.due_ms);
      if (next.every_ms === undefined) this.#timers.delete(next);
      else next.due_ms += next.every_ms;
      next.run();
    }
    this.#elapsed_ms = end_ms;
    await this.#settle();
  }

  /** Moves time on in small steps until `look` is satisfied. Real input and output gets its turn between the steps. */
  async until(what: string, look: () => boolean, limit_ms = 120_000, step_ms = 20): Promise<void> {
    for (let passed = 0; passed < limit_ms; passed += step_ms) {
      if (look()) return;
      await this.advance(step_ms);
    }
    throw new Error(`never came: ${what}`);
  }
}

function otherWork(): Promise<void> {
  return realTime(0);
}
