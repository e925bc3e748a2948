import { createHash } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Spent } from "../../db/limit-store.ts";
import { RateLimiter, type Limit, type LimitDecision } from "../rate-limit.ts";
import { Share } from "./share.ts";

const BUCKETS_MAX = 100_000;
const BUCKETS_PER_EXCHANGE = 1_000;
/** Pause before an exchange that no request waits for, and before one that some do: each gathers what comes meanwhile. */
const [QUIET_MS, WAITED_FOR_MS] = [100, 5];
/** A database that does not answer in time decides nothing: each server then grants its part alone. */
const EXCHANGE_LIMIT_MS = 1_000;
const ROUNDS_MAX = 100;

export type SharedLimits = {
  /** How many servers share the limits, this one included. */
  readonly serverCount: () => number;
  readonly exchange: (spent: readonly Spent[]) => Promise<readonly number[]>;
};

type Means = SharedLimits & { readonly clock: Clock; readonly log: Log };
type Held = { readonly share: Share; readonly key: Buffer };

/**
 * Limits of requests over all servers of a database: exact while there is one, and in memory. With several, buckets in use are
 * exchanged with the database a few times a second in one statement, and never once for each request.
 */
export class SharedLimiter {
  readonly #means: Means;
  readonly #alone = new RateLimiter();
  readonly #held = new Map<string, Held>();
  #wanted = new Set<Held>();
  #serverCount = 1;
  #exchanging: Promise<boolean> | undefined;
  #hurry = Promise.withResolvers<void>();

  constructor(means: Means) {
    this.#means = means;
  }

  /** Counts one request of `bucket`, or refuses it without counting. It waits only where the others must be asked. */
  async take(bucket: string, limit: Limit): Promise<LimitDecision> {
    const { clock } = this.#means;
    this.#countServers();
    if (this.#serverCount <= 1) return this.#alone.take(bucket, limit, clock.monotonicMs());
    const held = this.#find(bucket, limit);
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      const decision = held.share.take(clock.monotonicMs());
      if (decision !== "ask") {
        if (decision.allowed) this.#want(held);
        return decision;
      }
      if (!(await this.#ask(held))) break;
    }
    const part = { perSecond: limit.perSecond / this.#serverCount, burst: limit.burst / this.#serverCount };
    return this.#alone.take(bucket, { ...part, burst: Math.max(1, part.burst) }, clock.monotonicMs());
  }

  #countServers(): void {
    const count = this.#means.serverCount();
    if (count === this.#serverCount) return;
    this.#serverCount = count;
    // Shares of another number of servers are void; what is unsaid of them is lost, which is at most an allowance each.
    this.#held.clear();
  }

  #find(bucket: string, limit: Limit): Held {
    const known = this.#held.get(bucket);
    if (known !== undefined) return known;
    if (this.#held.size >= BUCKETS_MAX) {
      for (const [name, { share }] of this.#held) if (!share.isDirty) this.#held.delete(name);
      if (this.#held.size >= BUCKETS_MAX) this.#held.clear();
    }
    const key = createHash("sha256").update(bucket).digest().subarray(0, 16);
    const held = { key, share: new Share(limit, this.#serverCount) };
    this.#held.set(bucket, held);
    return held;
  }

  #want(held: Held): void {
    this.#wanted.add(held);
    void this.#exchangeSoon();
  }

  /** Resolves after an exchange that has this bucket in it; false when it failed. */
  async #ask(held: Held): Promise<boolean> {
    this.#wanted.add(held);
    // One under way may have left before this bucket was wanted.
    while (this.#wanted.has(held)) {
      this.#hurry.resolve();
      if (!(await this.#exchangeSoon())) return false;
    }
    return true;
  }

  #exchangeSoon(): Promise<boolean> {
    this.#exchanging ??= this.#exchange().finally(() => {
      this.#exchanging = undefined;
      if (this.#wanted.size > 0) void this.#exchangeSoon();
    });
    return this.#exchanging;
  }

  async #exchange(): Promise<boolean> {
    const { clock, log, exchange } = this.#means;
    const done = new AbortController();
    await Promise.race([this.#hurry.promise, clock.sleep(QUIET_MS, done.signal)]);
    await clock.sleep(WAITED_FOR_MS);
    this.#hurry = Promise.withResolvers<void>();
    const batch = [...this.#wanted].slice(0, BUCKETS_PER_EXCHANGE);
    for (const held of batch) this.#wanted.delete(held);
    const spent = batch.map(({ key, share }) => ({ bucket: key, spentMs: share.send() }));
    try {
      const late = clock.sleep(EXCHANGE_LIMIT_MS, done.signal).then(() => undefined);
      const ahead = await Promise.race([exchange(spent), late]);
      if (ahead === undefined) throw new Error("the database did not answer in time");
      for (const [index, { share }] of batch.entries()) share.learn(ahead[index] ?? 0, clock.monotonicMs());
      return true;
    } catch (error) {
      log.debug({ err: error }, "limits of requests could not be exchanged");
      for (const { share } of batch) share.keep();
      return false;
    } finally {
      done.abort();
    }
  }
}
