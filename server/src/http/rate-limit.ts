import type { LimitName } from "../base/access.ts";

/** A limit of `perSecond` on average, of which `burst` may come at once. */
export type Limit = { readonly perSecond: number; readonly burst: number };
export type Limits = Readonly<Record<LimitName, Limit>> & {
  /** Limits of single operations by their name, such as `api.asks.create`. */
  readonly operations: Readonly<Record<string, Limit>>;
};

/** Limits that ordinary clients never meet; operations that make keys or move money have tighter ones. */
export const DEFAULT_LIMITS: Limits = {
  default: { perSecond: 20, burst: 60 },
  keys: { perSecond: 5, burst: 30 },
  money: { perSecond: 10, burst: 40 },
  operations: {
    // Clients ask for a result several times a second until it is there, and many may share an address.
    "api.result.show": { perSecond: 100, burst: 600 },
    // Answered from memory; each request to an endpoint asks once, and all of a service's may come from one address.
    "api.route.request": { perSecond: 20_000, burst: 40_000 },
    "api.endpoint.complete": { perSecond: 2_000, burst: 4_000 },
    // Thousands of workers may come through one address, and their reports are checked in memory first.
    "api.worker.report": { perSecond: 5_000, burst: 20_000 },
    "api.worker.finish": { perSecond: 5_000, burst: 20_000 },
    // A text that is always the same; one container of a host must not be able to keep it from the others.
    "api.route.public_key": { perSecond: 5_000, burst: 20_000 },
    // All workers of a deployment may start at the same time, behind one address.
    "api.deployment.file": { perSecond: 200, burst: 2_000 },
    // Each asks a server of the caller's choice, with several requests.
    "api.template.fetch_tags": { perSecond: 2, burst: 10 },
    "api.template.docker_tags": { perSecond: 2, burst: 10 },
    "api.template.check_login": { perSecond: 2, burst: 10 },
    // A page of the console loads dozens of files, and all people of an office come from one address.
    "console.page": { perSecond: 100, burst: 600 },
    "console.file": { perSecond: 500, burst: 5_000 },
    // A payment provider calls from few addresses for all its users, and comes back hours later when it is refused.
    "api.billing.webhook": { perSecond: 200, burst: 2_000 },
  },
};

/** The limit of wrong keys for each address: guessing is slow, and a mistaken script still learns its mistake. */
export const WRONG_KEY_LIMIT: Limit = { perSecond: 20, burst: 600 };

export type LimitDecision = { readonly allowed: true } | { readonly allowed: false; readonly retryAfterMs: number };

const BUCKETS_MAX = 100_000;

/**
 * Exact in one process: the generic cell rate algorithm (ITU-T I.371), one number per bucket. The number is the time at
 * which the bucket will be empty again; a request is allowed while that is at most `burst` intervals ahead.
 */
export class RateLimiter {
  readonly #emptyAt = new Map<string, number>();

  /** Counts one request of `bucket` at `nowMs` (monotonic), or refuses it without counting. */
  take(bucket: string, limit: Limit, nowMs: number): LimitDecision {
    const decision = this.look(bucket, limit, nowMs);
    if (!decision.allowed) return decision;
    if (this.#emptyAt.size >= BUCKETS_MAX) this.#forgetEmpty(nowMs);
    this.#emptyAt.set(bucket, Math.max(this.#emptyAt.get(bucket) ?? 0, nowMs) + 1000 / limit.perSecond);
    return decision;
  }

  /** The answer that `take` would give, without counting. */
  look(bucket: string, limit: Limit, nowMs: number): LimitDecision {
    const intervalMs = 1000 / limit.perSecond;
    const aheadMs = Math.max(this.#emptyAt.get(bucket) ?? 0, nowMs) + intervalMs - nowMs;
    const allowedMs = limit.burst * intervalMs;
    // The tolerance keeps the rounding of doubles from costing a request.
    return aheadMs > allowedMs + 1e-6 ? { allowed: false, retryAfterMs: aheadMs - allowedMs } : { allowed: true };
  }

  #forgetEmpty(nowMs: number): void {
    for (const [bucket, emptyAtMs] of this.#emptyAt) if (emptyAtMs <= nowMs) this.#emptyAt.delete(bucket);
    // Under a flood of new identities the oldest buckets go: they are the closest to empty.
    for (const bucket of this.#emptyAt.keys()) {
      if (this.#emptyAt.size < BUCKETS_MAX) break;
      this.#emptyAt.delete(bucket);
    }
  }
}
