import type { Clock } from "./clock.ts";
import type { Log } from "./log.ts";
import { traced } from "./tracing.ts";

/** Counts of the work of one run; shown to administrators. */
export type LoopStatus = Readonly<Record<string, number | string>>;

/**
 * Background work without input: it looks at the state of the world and repairs what it finds. Runs may overlap with
 * requests and with the same loop in another process, so each is idempotent and bounded.
 */
export type Loop = {
  readonly name: string;
  readonly description: string;
  readonly everyMs: number;
  readonly run: () => Promise<LoopStatus>;
};

export type LoopReport = {
  readonly name: string;
  readonly description: string;
  readonly every_ms: number;
  readonly run_count: number;
  readonly failure_count: number;
  readonly last_started_at: Date | null;
  readonly last_status: LoopStatus | null;
  readonly last_error: string | null;
};

export type LoopAge = LoopReport & { readonly age_seconds: number };

/** Runs loops by period and by `wake`, never one of them twice at once in this process. A failed run is not retried: the next is. */
export class LoopDriver {
  readonly #runners = new Map<string, LoopRunner>();
  readonly #clock: Clock;
  readonly #log: Log;

  constructor(loops: readonly Loop[], { clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.#clock = clock;
    this.#log = log;
    for (const loop of loops) this.#runners.set(loop.name, new LoopRunner(loop, clock, log));
  }

  start(): void {
    for (const runner of this.#runners.values()) runner.start();
    this.#log.debug({ loops: [...this.#runners.keys()] }, "background loops started");
  }

  /** Asks for a run soon; a run that is already under way is followed by another. */
  wake(name: string): void {
    this.#runners.get(name)?.wake();
  }

  /** The loop of this name, for a caller that runs it at a moment of its own choice. */
  find(name: string): Loop | undefined {
    return this.#runners.get(name)?.loop;
  }

  report(): readonly LoopReport[] {
    return [...this.#runners.values()].map((runner) => runner.report());
  }

  /** True while each loop that was started has had a run without failure within its last three periods. */
  isHealthy(): boolean {
    return this.lateNames().length === 0;
  }

  /** Names of started loops that had no run without failure within their last three periods. */
  lateNames(): readonly string[] {
    const nowMs = this.#clock.monotonicMs();
    return [...this.#runners].filter(([, runner]) => !runner.isHealthy(nowMs)).map(([name]) => name);
  }

  /** Started loops with the seconds since their last run without failure. */
  ages(): readonly LoopAge[] {
    const nowMs = this.#clock.monotonicMs();
    return [...this.#runners.values()].flatMap((runner) => {
      const ageMs = runner.ageMs(nowMs);
      return ageMs === undefined ? [] : [{ ...runner.report(), age_seconds: ageMs / 1000 }];
    });
  }

  /** Resolves when no run is under way, those that followed included. */
  async idle(): Promise<void> {
    await Promise.all([...this.#runners.values()].map((runner) => runner.idle()));
  }

  /** Starts no further runs and waits for those under way. */
  async stop(): Promise<void> {
    await Promise.all([...this.#runners.values()].map((runner) => runner.stop()));
  }
}

class LoopRunner {
  readonly loop: Loop;
  readonly #clock: Clock;
  readonly #log: Log;
  #cancelTimer: (() => void) | undefined;
  #current: Promise<void> | undefined;
  #isWoken = false;
  #isStopped = false;
  #runCount = 0;
  #failureCount = 0;
  #lastStartedAt: Date | null = null;
  /** The monotonic time of the start or, after that, of the last run without failure; undefined before the start. */
  #lastSuccessMs: number | undefined;
  #lastStatus: LoopStatus | null = null;
  #lastError: string | null = null;

  constructor(loop: Loop, clock: Clock, log: Log) {
    this.loop = loop;
    this.#clock = clock;
    this.#log = log;
  }

  start(): void {
    this.#lastSuccessMs = this.#clock.monotonicMs();
    this.#cancelTimer = this.#clock.every(this.loop.everyMs, () => this.wake());
  }

  wake(): void {
    if (this.#isStopped) return;
    if (this.#current !== undefined) {
      this.#isWoken = true;
      return;
    }
    this.#current = this.#runOnce().finally(() => {
      this.#current = undefined;
      if (!this.#isWoken) return;
      this.#isWoken = false;
      this.wake();
    });
  }

  report(): LoopReport {
    return {
      name: this.loop.name,
      description: this.loop.description,
      every_ms: this.loop.everyMs,
      run_count: this.#runCount,
      failure_count: this.#failureCount,
      last_started_at: this.#lastStartedAt,
      last_status: this.#lastStatus,
      last_error: this.#lastError,
    };
  }

  ageMs(nowMs: number): number | undefined {
    return this.#lastSuccessMs === undefined ? undefined : nowMs - this.#lastSuccessMs;
  }

  isHealthy(nowMs: number): boolean {
    return this.#lastSuccessMs === undefined || nowMs - this.#lastSuccessMs <= 3 * this.loop.everyMs + 10_000;
  }

  async idle(): Promise<void> {
    while (this.#current !== undefined) await this.#current;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelTimer?.();
    await this.#current;
  }

  async #runOnce(): Promise<void> {
    this.#runCount += 1;
    this.#lastStartedAt = this.#clock.now();
    try {
      this.#lastStatus = await traced(`loop ${this.loop.name}`, {}, () => this.loop.run());
      this.#lastError = null;
      if (this.#lastSuccessMs !== undefined) this.#lastSuccessMs = this.#clock.monotonicMs();
    } catch (error) {
      this.#failureCount += 1;
      this.#lastError = String(error);
      this.#log.error({ err: error, loop: this.loop.name }, "a background loop failed");
    }
  }
}
