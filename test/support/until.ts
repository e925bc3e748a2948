import { setTimeout as delay } from "node:timers/promises";

/** Slower than the limit of an ordinary client, so that waiting for one thing does not use up the next one's calls. */
const POLL_MS = 75;
/** Far more than anything takes, since a machine that runs tests may be busy with others. */
const LIMIT_MS = 180_000;

/**
 * Asks until the answer is neither undefined nor false, and returns it. Fails with `what` and the last failure of the
 * probe when that takes too long. The way for a test to wait for another process.
 */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = LIMIT_MS,
): Promise<T> {
  const end = performance.now() + limitMs;
  let lastFailure: unknown;
  for (;;) {
    try {
      const answer = await probe();
      if (answer !== undefined && answer !== false) return answer;
      lastFailure = undefined;
    } catch (error) {
      lastFailure = error;
    }
    if (performance.now() > end) {
      throw new Error(`waited ${limitMs / 1000} s in vain: ${what}`, { cause: lastFailure });
    }
    await delay(POLL_MS);
  }
}
