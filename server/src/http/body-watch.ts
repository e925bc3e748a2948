import type { IncomingMessage } from "node:http";
import { AppError } from "../base/errors.ts";
import type { Clock } from "../base/clock.ts";

/** How much of what callers send may lie in memory unfinished, and for how long. */
export type BodyRule = {
  /** A body that has not arrived whole after this time is refused with 408. */
  readonly timeoutMs: number;
  /** Bytes announced by one caller, over all of its unfinished bodies. */
  readonly callerBytesMax: number;
  /** Bytes announced by all callers of this rule. */
  readonly totalBytesMax: number;
};

/** Anybody may send these, so they are short and few. Workers of a large endpoint share the address of their host. */
const PUBLIC: BodyRule = { timeoutMs: 10_000, callerBytesMax: 16 * 1_048_576, totalBytesMax: 64 * 1_048_576 };
/** Callers with a valid key, counted by account. */
const KNOWN: BodyRule = { timeoutMs: 60_000, callerBytesMax: 32 * 1_048_576, totalBytesMax: 256 * 1_048_576 };
export const BODY_RULES = { public: PUBLIC, known: KNOWN } as const;

export type BodyClass = keyof typeof BODY_RULES;

type Pending = {
  readonly raw: IncomingMessage;
  readonly caller: string;
  readonly bodyClass: BodyClass;
  readonly bytes: number;
  readonly overdueAtMs: number;
};

const SWEEP_MS = 1_000;

/**
 * Bounds request bodies in time and memory. Each body counts with the size that its header announces, or with the largest
 * its route takes, from its header's arrival until it has arrived whole or its connection has ended.
 */
export class BodyWatch {
  private readonly clock: Clock;
  private readonly pending = new Map<IncomingMessage, Pending>();
  private readonly bytesOfCallers = new Map<string, number>();
  private readonly totals: Record<BodyClass, number> = { public: 0, known: 0 };
  private stopSweeping: (() => void) | undefined;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  start(): void {
    this.stopSweeping ??= this.clock.every(SWEEP_MS, () => this.sweep());
  }

  stop(): void {
    this.stopSweeping?.();
    this.stopSweeping = undefined;
  }

  /** Counts the body of a request; throws `busy` (503) when the caller, or all callers together, have too much under way. */
  begin(raw: IncomingMessage, { caller, bodyClass, bytes }: Pick<Pending, "caller" | "bodyClass" | "bytes">): void {
    if (bytes === 0 || this.pending.has(raw)) return;
    const rule = BODY_RULES[bodyClass];
    const ofCaller = (this.bytesOfCallers.get(caller) ?? 0) + bytes;
    const total = this.totals[bodyClass] + bytes;
    if (ofCaller > rule.callerBytesMax || total > rule.totalBytesMax) throw tooManyBodies();
    this.bytesOfCallers.set(caller, ofCaller);
    this.totals[bodyClass] = total;
    const overdueAtMs = this.clock.monotonicMs() + rule.timeoutMs;
    this.pending.set(raw, { raw, caller, bodyClass, bytes, overdueAtMs });
    raw.once("close", () => this.end(raw));
  }

  /** The body of this request has arrived, or nothing more of it will. */
  end(raw: IncomingMessage): void {
    const body = this.pending.get(raw);
    if (body === undefined) return;
    this.pending.delete(raw);
    this.totals[body.bodyClass] -= body.bytes;
    const left = (this.bytesOfCallers.get(body.caller) ?? 0) - body.bytes;
    if (left > 0) this.bytesOfCallers.set(body.caller, left);
    else this.bytesOfCallers.delete(body.caller);
  }

  private sweep(): void {
    const nowMs = this.clock.monotonicMs();
    for (const { raw, overdueAtMs } of this.pending.values()) {
      if (overdueAtMs > nowMs) continue;
      this.end(raw);
      // The framework, which is reading the body, answers with this error and closes the connection.
      if (raw.listenerCount("error") > 0) raw.emit("error", requestTimeout());
      else raw.destroy();
    }
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
