/** Time as a dependency: built once in `main.ts` and passed down, so that tests own it. The only file with timers. */
export type Clock = {
  /** Wall time, for what other systems wrote down (a container's start) and for people. */
  now(): Date;
  /** Milliseconds since the boot of this machine; they never go back and mean the same in every process of one boot. */
  monotonicMs(): number;
  /** Resolves after `ms`, or at once when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `run` each `ms` until the returned function is called. It does not keep the process alive. */
  every(ms: number, run: () => void): () => void;
};

const NANOSECONDS_PER_MILLISECOND = 1e6;

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => Number(process.hrtime.bigint()) / NANOSECONDS_PER_MILLISECOND,
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
