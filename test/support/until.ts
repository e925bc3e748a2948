import { setTimeout as delay } from "node:timers/promises";

/**
 * The interval of questions: slower than the rate limit of an ordinary client, so that waiting does not use up later
 * calls.
 */
const POLL_MS = 75;
/** The limit of a wait, which only a hang reaches: a machine that runs tests may be slow, and busy with others. */
const LIMIT_MS = 900_000;
/** The interval at which a person at the screen reads the open condition. */
const NEWS_MS = 60_000;

/**
 * Asks until the answer is neither undefined nor false, and returns it. Fails with `what` and the last failure of the
 * probe when that takes too long, and says so once a minute on the way. The way for a test to wait for another process.
 */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = LIMIT_MS,
): Promise<T> {
  const start = performance.now();
  let newsAtMs = start + NEWS_MS;
  let lastFailure: unknown;
  for (;;) {
    try {
      const answer = await probe();
      if (answer !== undefined && answer !== false) return answer;
      lastFailure = undefined;
    } catch (error) {
      lastFailure = error;
    }
    const nowMs = performance.now();
    const waited = `waited ${Math.round((nowMs - start) / 1000)} s`;
    if (nowMs > start + limitMs) throw new Error(`${waited} in vain: ${what}`, { cause: lastFailure });
    if (nowMs > newsAtMs) {
      newsAtMs = nowMs + NEWS_MS;
      console.error(`${waited} for: ${what}${lastFailure === undefined ? "" : ` (${String(lastFailure)})`}`);
    }
    await delay(POLL_MS);
  }
}
