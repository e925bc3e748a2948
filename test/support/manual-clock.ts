import type { Clock } from "../../server/src/base/clock.ts";

/** A clock that stands still until the test moves it. Sleepers and periodic calls wake as it passes them. */
export class ManualClock implements Clock {
  /**
   * Milliseconds by which wall time is read wrong: clocks of processes differ, and a transaction reads its own before
   * it waits.
   */
  skewMs = 0;
  #elapsedMs = 0;
  readonly #startMs: number;
  readonly #timers = new Set<{
    dueMs: number;
    readonly everyMs: number | undefined;
    readonly run: () => void;
  }>();

  constructor(start: string | number = "2026-01-01T00:00:00Z") {
    this.#startMs = new Date(start).getTime();
  }

  /** A clock that reads the time wrong is the clock of another process. */
  get id(): number {
    return 1_000_000_000 + this.skewMs;
  }

  now(): Date {
    return new Date(this.#startMs + this.#elapsedMs + this.skewMs);
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      const timer = { dueMs: this.#elapsedMs + ms, everyMs: undefined, run: resolve };
      this.#timers.add(timer);
      signal?.addEventListener("abort", () => {
        this.#timers.delete(timer);
        resolve();
      });
    });
  }

  every(ms: number, run: () => void): () => void {
    const timer = { dueMs: this.#elapsedMs + ms, everyMs: ms, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Moves the time on without running anything, as when a machine was suspended: timers fall due that much later. */
  jump(ms: number): void {
    this.#elapsedMs += ms;
    for (const timer of this.#timers) timer.dueMs += ms;
  }

  /** Moves the time on and runs what falls due on the way, in the order of its time. */
  advance(ms: number): void {
    const endMs = this.#elapsedMs + ms;
    for (;;) {
      const [next] = [...this.#timers].toSorted((a, b) => a.dueMs - b.dueMs);
      if (next === undefined || next.dueMs > endMs) break;
      this.#elapsedMs = next.dueMs;
      if (next.everyMs === undefined) this.#timers.delete(next);
      else next.dueMs += next.everyMs;
      next.run();
    }
    this.#elapsedMs = endMs;
  }
}

/** The clock of another process: it goes on with its leader, and reads wall time with a skew of its own. */
export class FollowingClock extends ManualClock {
  readonly #leader: ManualClock;

  constructor(leader: ManualClock, skewMs: number) {
    super();
    this.#leader = leader;
    this.skewMs = skewMs;
  }

  override now(): Date {
    return new Date(this.#leader.now().getTime() + this.skewMs);
  }

  override monotonicMs(): number {
    return this.#leader.monotonicMs();
  }
}
