import type { IncomingMessage } from "node:http";
import { AppError } from "../base/errors.ts";
import type { Clock } from "../base/clock.ts";

/** Limits on unfinished bodies in memory and time. */
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

/** Bytes announced under one rule: by each caller, and by all together. */
type Share = { readonly ofCallers: Map<string, number>; total: number };

const SWEEP_MS = 1_000;

/**
 * Bounds request bodies in time and memory. Each body counts with the size that its header announces, or with the largest
 * its route takes, from its header's arrival until it has arrived whole or its connection has ended. Callers share the
 * memory fairly: when it is full, the caller that holds most makes room for one that would hold less.
 */
export class BodyWatch {
  private readonly clock: Clock;
  /** Unfinished bodies, oldest first. */
  private readonly pending = new Map<IncomingMessage, Pending>();
  private readonly shares: Readonly<Record<BodyClass, Share>> = {
    public: { ofCallers: new Map(), total: 0 },
    known: { ofCallers: new Map(), total: 0 },
  };
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
    const share = this.shares[bodyClass];
    const ofCaller = (share.ofCallers.get(caller) ?? 0) + bytes;
    if (ofCaller > rule.callerBytesMax) throw tooManyBodies();
    while (share.total + bytes > rule.totalBytesMax) this.makeRoom(bodyClass, ofCaller);
    share.ofCallers.set(caller, ofCaller);
    share.total += bytes;
    const overdueAtMs = this.clock.monotonicMs() + rule.timeoutMs;
    this.pending.set(raw, { raw, caller, bodyClass, bytes, overdueAtMs });
    raw.once("close", () => this.end(raw));
  }

  /** Stops counting the body of this request: it has arrived, or nothing more of it will. */
  end(raw: IncomingMessage): void {
    const body = this.pending.get(raw);
    if (body === undefined) return;
    this.pending.delete(raw);
    const share = this.shares[body.bodyClass];
    share.total -= body.bytes;
    const left = (share.ofCallers.get(body.caller) ?? 0) - body.bytes;
    if (left > 0) share.ofCallers.set(body.caller, left);
    else share.ofCallers.delete(body.caller);
  }

  /** Cuts off the oldest body of the caller that holds most; throws `busy` when none holds more than `newcomerBytes`. */
  private makeRoom(bodyClass: BodyClass, newcomerBytes: number): void {
    let [largest, most] = ["", newcomerBytes];
    for (const [caller, bytes] of this.shares[bodyClass].ofCallers) if (bytes > most) [largest, most] = [caller, bytes];
    for (const { raw, caller, bodyClass: held } of this.pending.values()) {
      if (caller === largest && held === bodyClass) return this.cutOff(raw, tooManyBodies());
    }
    throw tooManyBodies();
  }

  private sweep(): void {
    const nowMs = this.clock.monotonicMs();
    for (const { raw, overdueAtMs } of this.pending.values()) {
      if (overdueAtMs <= nowMs) this.cutOff(raw, requestTimeout());
    }
  }

  private cutOff(raw: IncomingMessage, error: AppError): void {
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
