/** Time as a dependency: built once in `main.ts` and passed down, so that tests and simulations own it. */
export type Clock = {
  /** A number per process: only moments of one clock compare to the millisecond. Undefined where nobody compares. */
  readonly id?: number;
  /** Wall time, for times that people and other systems see. */
  now(): Date;
  /** Milliseconds that never go back, for measuring how long something took. */
  monotonicMs(): number;
  /** Resolves after `ms`, or at once when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `run` each `ms` until the returned function is called. It does not keep the process alive. */
  every(ms: number, run: () => void): () => void;
};

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener("abort", done, { once: true });
    }),
  every: (ms, run) => {
    const timer = setInterval(run, ms);
    timer.unref();
    return () => clearInterval(timer);
  },
};

/** Seconds since the epoch with a fraction: the contract's timestamps. */
export function epochSeconds(at: Date): number {
  return at.getTime() / 1000;
}
