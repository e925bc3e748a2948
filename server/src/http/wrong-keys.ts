import type { Clock } from "../base/clock.ts";
import { networkOf } from "../base/public-address.ts";
import { rateLimited } from "./error-response.ts";
import { RateLimiter, WRONG_KEY_LIMIT } from "./rate-limit.ts";

/** Wait of each further look-up for an address that has shown too many wrong keys. */
const WAIT_MS = 1_000;

/** Resolves a key; it awaits `pause` before it asks the database. */
export type LookUp<T> = (key: string, pause: () => Promise<void>) => Promise<T | undefined>;

/**
 * Slows down an address (of IPv6 a /64) that shows keys which do not exist. Beyond `WRONG_KEY_LIMIT` each look-up waits, so
 * that each connection asks the database once a second at most. Right keys are served after that wait: a refusal would let
 * one guesser shut out a host, or an office, that shares its address.
 */
export class WrongKeys {
  readonly #limiter = new RateLimiter();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The holder of the key; undefined, and counted, when it is absent or wrong. Throws `rate_limited` beyond the limit. */
  async find<T>(key: string | undefined, address: string, lookUp: LookUp<T>): Promise<T | undefined> {
    const bucket = networkOf(address);
    const pause = async () => {
      const { allowed } = this.#limiter.look(bucket, WRONG_KEY_LIMIT, this.#clock.monotonicMs());
      if (!allowed) await this.#clock.sleep(WAIT_MS);
    };
    const found = key === undefined ? undefined : await lookUp(key, pause);
    if (found !== undefined) return found;
    const decision = this.#limiter.take(bucket, WRONG_KEY_LIMIT, this.#clock.monotonicMs());
    if (!decision.allowed) throw rateLimited(1 / WRONG_KEY_LIMIT.perSecond, decision.retryAfterMs);
    return undefined;
  }
}
