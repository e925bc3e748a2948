import { AppError } from "../../base/errors.ts";
import type { Follower } from "./stream.ts";

/** Open streams of one account, of one address, and of all callers, at one server. */
const LIMITS = { account: 100, network: 200, total: 5_000 } as const;
const RETRY_AFTER_MS = 10_000;

/** Counts open streams, so that neither an account nor an address takes all of them. */
export class StreamCounts {
  readonly #counts = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  /** Counts a stream of this caller; throws `too_many_streams` when a limit is reached. */
  take(follower: Follower): void {
    const groups = groupsOf(follower);
    const full = groups.find(({ key, max }) => (this.#counts.get(key) ?? 0) >= max);
    if (full !== undefined) throw tooManyStreams(`${full.words} may have ${full.max}`);
    if (this.#total >= LIMITS.total) throw tooManyStreams(`this server may have ${LIMITS.total}`);
    for (const { key } of groups) this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    this.#total += 1;
  }

  release(follower: Follower): void {
    this.#total -= 1;
    for (const { key } of groupsOf(follower)) {
      const left = (this.#counts.get(key) ?? 1) - 1;
      if (left > 0) this.#counts.set(key, left);
      else this.#counts.delete(key);
    }
  }
}

function groupsOf({ identity, network }: Follower) {
  const account = { key: `user ${identity.userId}`, max: LIMITS.account, words: "one account" };
  const address = { key: `network ${network}`, max: LIMITS.network, words: "one address" };
  return network === undefined ? [account] : [account, address];
}

function tooManyStreams(limit: string): AppError {
  const msg = `Too many event streams are open: ${limit}. Close one, or share one among your windows.`;
  return new AppError("rate_limited", "too_many_streams", msg, {
    extra: { success: false, error: "too_many_streams", detail: msg, retry_after_ms: RETRY_AFTER_MS },
  });
}
