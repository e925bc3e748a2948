import { systemTimer, type Timer } from "../../sdk/src/timer.ts";
import { UserError } from "./failure.ts";

const POLL_MS = 300;
const POLLS_MAX = 100;
const TIMEOUT_MS = 10_000;

/** Gets the text behind a `result_url` as soon as the host has answered. The address needs no key. */
export async function pollResult(url: string, timer: Timer = systemTimer): Promise<string> {
  for (let poll = 0; poll < POLLS_MAX; poll += 1) {
    const text = await fetchText(url);
    if (text !== undefined) return text;
    await timer.sleep(POLL_MS);
  }
  throw new UserError("The host has not answered in time.", "Its agent may be busy or away: try again in a moment.");
}

/**
 * The text of the result; undefined while there is none, or when the answer was lost and the next attempt may succeed.
 */
async function fetchText(url: string): Promise<string | undefined> {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(() => undefined);
  const text = await response?.text().catch(() => undefined);
  return response?.status === 200 ? text : undefined;
}
