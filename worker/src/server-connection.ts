import type { Clock } from "./clock.ts";
import type { Log } from "./log.ts";

const ATTEMPTS = 3;
const PAUSE_MS = 1_000;
const TIMEOUT_MS = 10_000;

/** The worker's connection to its servers: the first one that accepts a message is enough. */
export class ServerConnection {
  readonly #addresses: readonly string[];
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #ended: AbortSignal;

  constructor(input: {
    readonly addresses: readonly string[];
    readonly clock: Clock;
    readonly log: Log;
    readonly ended: AbortSignal;
  }) {
    this.#addresses = input.addresses;
    this.#clock = input.clock;
    this.#log = input.log;
    this.#ended = input.ended;
  }

  /** Sends a message; true if a server accepted it. */
  async post(path: string, body: object): Promise<boolean> {
    const text = JSON.stringify(body);
    for (const address of this.#addresses) {
      for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
        if (attempt > 1) await this.#clock.sleep(PAUSE_MS, this.#ended);
        if (await this.#postOnce(`${address}${path}`, text)) return true;
        if (this.#ended.aborted) break;
      }
    }
    return false;
  }

  /** The server's public key. */
  async fetchKey(): Promise<string | undefined> {
    for (const address of this.#addresses) {
      try {
        const [isOk, text] = await this.#inTime(async (signal) => {
          const answer = await fetch(`${address}/pubkey/`, { signal });
          return [answer.ok, await answer.text()] as const;
        });
        if (isOk) return text;
      } catch (error) {
        this.#log(`${address} does not give its key: ${String(error)}`);
      }
    }
    return undefined;
  }

  async #postOnce(url: string, body: string): Promise<boolean> {
    try {
      const headers = { "content-type": "application/json" };
      const { ok, status } = await this.#inTime(async (signal) => {
        const answer = await fetch(url, { method: "POST", headers, body, signal });
        await answer.body?.cancel();
        return answer;
      });
      if (!ok) this.#log(`${url} answers ${status}`);
      return ok;
    } catch (error) {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
      this.#log(`${url} cannot be reached: ${cause}`);
      return false;
    }
  }

  /** Runs `ask` with a signal that aborts after the time limit. */
  async #inTime<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const [over, answered] = [new AbortController(), new AbortController()];
    void this.#clock.sleep(TIMEOUT_MS, answered.signal).then(() => over.abort());
    try {
      return await ask(over.signal);
    } finally {
      answered.abort();
    }
  }
}
