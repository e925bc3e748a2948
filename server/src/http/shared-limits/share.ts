import type { Limit, LimitDecision } from "../rate-limit.ts";

/** The part of what is left in a bucket that all servers together may let through before they ask again. */
const PART_PER_EXCHANGE = 0.25;
/** The part of a burst that all servers together may let through of a bucket that none has asked about. */
const PART_ON_CREDIT = 0.005;
/** A server that has not asked for so long does not know what the others have let through since. */
const KNOWN_FOR_MS = 1_000;

/**
 * One server's view of one bucket that several servers share. What it lets through is added to the shared bucket later, so
 * an excess is a debt that all of them pay back. Between two exchanges a server lets through a part of what was left: by N
 * servers together a quarter of it, or one request each.
 */
export class Share {
  readonly #limit: Limit;
  readonly #serverCount: number;
  #spent = 0;
  #sending = 0;
  #allowance: number;
  #aheadMs = 0;
  #knownAtMs = -Infinity;

  constructor(limit: Limit, serverCount: number) {
    this.#limit = limit;
    this.#serverCount = serverCount;
    this.#allowance = Math.max(1, Math.floor((limit.burst * PART_ON_CREDIT) / serverCount));
  }

  /** Lets a request through and counts it, refuses it, or says that the shared bucket must be asked first. */
  take(nowMs: number): LimitDecision | "ask" {
    const intervalMs = 1000 / this.#limit.perSecond;
    const isKnown = nowMs - this.#knownAtMs < KNOWN_FOR_MS;
    if (isKnown) {
      const ownMs = (this.#spent + this.#sending + 1) * intervalMs;
      const overMs = Math.max(0, this.#aheadMs - (nowMs - this.#knownAtMs)) + ownMs - this.#limit.burst * intervalMs;
      // Requests that others let through since can only add to it, so this refusal needs no exchange.
      if (overMs > 1e-6) return { allowed: false, retryAfterMs: overMs };
    }
    const isFirst = this.#knownAtMs === -Infinity;
    if ((!isKnown && !isFirst) || this.#spent + this.#sending >= this.#allowance) return "ask";
    this.#spent += 1;
    return { allowed: true };
  }

  /** True when the shared bucket does not know yet what was let through. */
  get isDirty(): boolean {
    return this.#spent > 0;
  }

  /** Milliseconds of the rate to add to the shared bucket; `learn` or `keep` follows. */
  send(): number {
    this.#sending = this.#spent;
    this.#spent = 0;
    return (this.#sending * 1000) / this.#limit.perSecond;
  }

  /** Takes how far ahead the shared bucket is, after what was sent. */
  learn(aheadMs: number, nowMs: number): void {
    const intervalMs = 1000 / this.#limit.perSecond;
    const left = this.#limit.burst - Math.max(0, aheadMs) / intervalMs;
    const part = Math.floor((left * PART_PER_EXCHANGE) / this.#serverCount);
    this.#sending = 0;
    this.#aheadMs = aheadMs;
    this.#knownAtMs = nowMs;
    this.#allowance = left + 1e-6 < 1 ? 0 : Math.max(1, part);
  }

  /** Sends again later, since the last amount may not have arrived. */
  keep(): void {
    this.#spent += this.#sending;
    this.#sending = 0;
  }
}
