import type { IncomingMessage } from "node:http";
import { AppError } from "../base/errors.ts";
import type { Clock } from "../base/clock.ts";
import { FairBudget, type BudgetRule } from "./fair-budget.ts";

/** Limits on unfinished bodies in memory, in announced bytes, and time. */
export type BodyRule = BudgetRule & {
  /** A body that has not arrived whole after this time is refused with 408. */
  readonly timeoutMs: number;
};

/**
 * The rule for callers without a key, so short and small. Workers of a large endpoint share the address of their host.
 */
const PUBLIC: BodyRule = { timeoutMs: 10_000, callerBytesMax: 16 * 1_048_576, totalBytesMax: 64 * 1_048_576 };
/** Callers with a valid key, counted by account. */
const KNOWN: BodyRule = { timeoutMs: 60_000, callerBytesMax: 32 * 1_048_576, totalBytesMax: 256 * 1_048_576 };
export const BODY_RULES = { public: PUBLIC, known: KNOWN } as const;

export type BodyClass = keyof typeof BODY_RULES;

type Announced = { readonly caller: string; readonly bodyClass: BodyClass; readonly bytes: number };
type Pending = { readonly bodyClass: BodyClass; readonly overdueAtMs: number };

const SWEEP_MS = 1_000;

/**
 * Bounds request bodies in time and memory. Each body counts with the size that its header announces, or with the largest
 * its route takes, from its header's arrival until it has arrived whole or its connection has ended.
 */
export class BodyWatch {
  readonly #clock: Clock;
  readonly #pending = new Map<IncomingMessage, Pending>();
  readonly #budgets: Readonly<Record<BodyClass, FairBudget<IncomingMessage>>>;
  #stopSweeping: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    const budget = (rule: BodyRule) =>
      new FairBudget<IncomingMessage>(rule, (raw) => this.#cutOff(raw, tooManyBodies()));
    this.#budgets = { public: budget(PUBLIC), known: budget(KNOWN) };
  }

  start(): void {
    this.#stopSweeping ??= this.#clock.every(SWEEP_MS, () => this.#sweep());
  }

  stop(): void {
    this.#stopSweeping?.();
    this.#stopSweeping = undefined;
  }

  /** Counts the body of a request; throws `busy` (503) when the caller, or all callers together, have too much under way. */
  begin(raw: IncomingMessage, { caller, bodyClass, bytes }: Announced): void {
    if (bytes === 0 || this.#pending.has(raw)) return;
    if (!this.#budgets[bodyClass].take(raw, { caller, bytes })) throw tooManyBodies();
    const overdueAtMs = this.#clock.monotonicMs() + BODY_RULES[bodyClass].timeoutMs;
    this.#pending.set(raw, { bodyClass, overdueAtMs });
    raw.once("close", () => this.end(raw));
  }

  /** Stops counting the body of this request: it has arrived, or nothing more of it will. */
  end(raw: IncomingMessage): void {
    const body = this.#pending.get(raw);
    if (body === undefined) return;
    this.#pending.delete(raw);
    this.#budgets[body.bodyClass].release(raw);
  }

  #sweep(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [raw, { overdueAtMs }] of this.#pending) if (overdueAtMs <= nowMs) this.#cutOff(raw, requestTimeout());
  }

  #cutOff(raw: IncomingMessage, error: AppError): void {
    this.end(raw);
    // The framework, which is reading the body, answers with this error and closes the connection.
    if (raw.listenerCount("error") > 0) raw.emit("error", error);
    else raw.destroy();
  }
}

function tooManyBodies(): AppError {
  const msg = "Too many request bodies are under way. Repeat the request in a second.";
  return new AppError("unavailable", "busy", msg, { closesConnection: true });
}

function requestTimeout(): AppError {
  const msg = "The request did not arrive in time. Send it again, without pauses.";
  return new AppError("timeout", "request_timeout", msg, { closesConnection: true });
}
