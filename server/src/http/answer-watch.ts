import type { ServerResponse } from "node:http";
import { AppError } from "../base/errors.ts";
import type { Clock } from "../base/clock.ts";
import { FairBudget, type BudgetRule } from "./fair-budget.ts";

/** The system's buffers take smaller answers, read or not. */
const COUNTED_BYTES_MIN = 65_536;
const UNREAD_MS_MAX = 600_000;
const SWEEP_MS = 5_000;
const MIB = 1_048_576;
/** Unread bytes of callers without a key, counted by address, and of those with one, counted by account. */
const RULES = {
  public: { callerBytesMax: 32 * MIB, totalBytesMax: 128 * MIB },
  known: { callerBytesMax: 64 * MIB, totalBytesMax: 256 * MIB },
} as const satisfies Record<string, BudgetRule>;

type Caller = { readonly callerClass: keyof typeof RULES; readonly caller: string };

/** Bounds answers that lie in memory because their clients do not read them, in bytes and in time. */
export class AnswerWatch {
  readonly #clock: Clock;
  /** Answers that are not read to their end, oldest first, with the time at which they are cut off. */
  readonly #unread = new Map<ServerResponse, number>();
  readonly #budgets: Readonly<Record<keyof typeof RULES, FairBudget<ServerResponse>>>;
  #stopSweeping: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    const budget = (rule: BudgetRule) => new FairBudget<ServerResponse>(rule, (raw) => raw.destroy());
    this.#budgets = { public: budget(RULES.public), known: budget(RULES.known) };
  }

  start(): void {
    this.#stopSweeping ??= this.#clock.every(SWEEP_MS, () => this.#sweep());
  }

  stop(): void {
    this.#stopSweeping?.();
    this.#stopSweeping = undefined;
  }

  /** Counts an answer that is about to be sent; throws `busy` when its caller, or all callers, leave too much unread. */
  begin(raw: ServerResponse, payload: unknown, { callerClass, caller }: Caller): void {
    const isCounted = typeof payload === "string" || Buffer.isBuffer(payload);
    if (!isCounted || payload.length < COUNTED_BYTES_MIN) return;
    const budget = this.#budgets[callerClass];
    if (!budget.take(raw, { caller, bytes: payload.length })) throw tooMuchUnread();
    this.#unread.set(raw, this.#clock.monotonicMs() + UNREAD_MS_MAX);
    const end = () => {
      this.#unread.delete(raw);
      budget.release(raw);
    };
    raw.once("finish", end);
    raw.once("close", end);
  }

  #sweep(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [raw, overdueAtMs] of this.#unread) {
      if (overdueAtMs > nowMs) return;
      raw.destroy();
    }
  }
}

function tooMuchUnread(): AppError {
  const msg = "Earlier answers were not read yet. Read them, or ask for less at a time, and repeat the request.";
  return new AppError("unavailable", "busy", msg);
}
