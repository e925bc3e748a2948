import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { AppError } from "../../../base/errors.ts";
import type { Clock } from "../../../base/clock.ts";
import type { UserId } from "../../../base/ids.ts";
import type { Trial, TrialResult } from "./trial.ts";

/** The client waits for the answer, and clients wait for half a minute. */
const LIMIT_MS = 20_000;
const MEMORY_MB = 512;
/** Each simulation has a core to itself; the other cores are for requests. */
const AT_ONCE = 2;
const RETRY_MS = 5_000;
const THREAD = new URL("./thread.ts", import.meta.url);

/** `too_much`: it needed more time or memory than one simulation gets. */
type TrialOutcome = { readonly kind: "done"; readonly result: TrialResult } | { readonly kind: "too_much" };

/** Simulations of this process, each in a thread of its own: one per account at a time, and few in all. */
export class Simulations {
  readonly #clock: Clock;
  readonly #thread: URL;
  readonly #busy = new Map<UserId, AbortController>();

  constructor(clock: Clock, thread: URL = THREAD) {
    this.#clock = clock;
    this.#thread = thread;
  }

  /** Takes a place, and only then gathers the input; throws `rate_limited` when no place is free. */
  async run<Gathered extends { readonly trial: Trial }>(
    userId: UserId,
    gather: () => Promise<Gathered>,
    { hungUp }: { readonly hungUp: AbortSignal },
  ): Promise<TrialOutcome & { readonly gathered: Gathered }> {
    if (this.#busy.has(userId)) throw tooMany("A simulation of yours is running: wait until it is done.");
    if (this.#busy.size >= AT_ONCE) throw tooMany("Other simulations are running: try again in a few seconds.");
    const stopped = new AbortController();
    this.#busy.set(userId, stopped);
    try {
      const gathered = await gather();
      const outcome = await this.#play(gathered.trial, AbortSignal.any([stopped.signal, hungUp]));
      return { ...outcome, gathered };
    } finally {
      this.#busy.delete(userId);
    }
  }

  /** Aborts the running simulations. */
  stop(): void {
    for (const stopped of this.#busy.values()) stopped.abort();
  }

  async #play(trial: Trial, calledOff: AbortSignal): Promise<TrialOutcome> {
    if (calledOff.aborted) throw interrupted();
    const thread = new Worker(this.#thread, {
      workerData: trial,
      transferList: trial.traffic.rows.map(({ buffer }) => buffer),
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    });
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, calledOff]);
    try {
      return await Promise.race([
        outcomeOf(thread, over.signal),
        this.#clock.sleep(LIMIT_MS, signal).then((): TrialOutcome => {
          if (calledOff.aborted) throw interrupted();
          return { kind: "too_much" };
        }),
      ]);
    } finally {
      over.abort();
      await thread.terminate();
    }
  }
}

async function outcomeOf(thread: Worker, signal: AbortSignal): Promise<TrialOutcome> {
  try {
    const [result]: readonly TrialResult[] = await once(thread, "message", { signal });
    if (result !== undefined) return { kind: "done", result };
  } catch (error) {
    const isOutOfMemory = error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
    if (!isOutOfMemory) throw error;
  }
  return { kind: "too_much" };
}

function tooMany(detail: string): AppError {
  return new AppError("rate_limited", "rate_limited", detail, { extra: { detail, retry_after_ms: RETRY_MS } });
}

function interrupted(): AppError {
  return new AppError(
    "unavailable",
    "simulation_interrupted",
    "The simulation was called off: the server is stopping.",
  );
}
