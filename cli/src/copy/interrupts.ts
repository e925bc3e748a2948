const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Signals that would end this program, noted instead until `close`: it has something to put away first. */
export type Interrupts = {
  /** Aborts at the first signal, with its name as the reason. */
  readonly over: AbortSignal;
  close(): void;
};

export function noteInterrupts(): Interrupts {
  const controller = new AbortController();
  const note = (signal: NodeJS.Signals) => controller.abort(signal);
  for (const signal of SIGNALS) process.on(signal, note);
  return {
    over: controller.signal,
    close: () => {
      for (const signal of SIGNALS) process.off(signal, note);
    },
  };
}
