import { once } from "node:events";
import { request as requestHttp, type IncomingMessage, type ServerResponse } from "node:http";
import { request as requestHttps } from "node:https";
import { pipeline } from "node:stream/promises";
import type { Clock } from "./clock.ts";

/** Headers that belong to one connection, and lengths, which are computed again. */
const OWN_HEADERS = new Set(["connection", "keep-alive", "transfer-encoding", "upgrade", "te", "trailer"]);
const HEALTH_TIMEOUT_MS = 10_000;

export type BackendProblem = {
  readonly why: string;
  /** It may have received the request, and did not answer in time. */
  readonly isSilent: boolean;
};

/** The program that does the work, on this machine. */
export class Backend {
  readonly #url: string;
  readonly #clock: Clock;

  constructor(url: string, clock: Clock) {
    this.#url = url.replace(/\/+$/, "");
    this.#clock = clock;
  }

  /** The problem of the backend; undefined when it is healthy. */
  async findProblem(path: string): Promise<BackendProblem | undefined> {
    const [over, answered] = [new AbortController(), new AbortController()];
    // Only the head of the answer counts, so the request is aborted after it.
    void this.#clock.sleep(HEALTH_TIMEOUT_MS, answered.signal).then(() => over.abort());
    try {
      const { statusCode: status = 0 } = await this.#ask("GET", path, undefined, over.signal);
      return status < 400 ? undefined : { why: `it answers ${status} at ${path}`, isSilent: false };
    } catch (error) {
      const isSilent = over.signal.aborted;
      return { why: isSilent ? `it says nothing at ${path}` : describe(error), isSilent };
    } finally {
      answered.abort();
    }
  }

  /** Sends one request and discards its answer. */
  async work(route: string, payload: unknown, signal: AbortSignal): Promise<void> {
    const answer = await this.#ask("POST", route, payload, signal);
    answer.resume();
    await once(answer, "end", { signal });
    const status = answer.statusCode ?? 0;
    if (status >= 400) throw new Error(`it answers ${status} at ${route}`);
  }

  /**
   * Sends one request and passes its answer on as it arrives, no faster than the client reads. Returns its status;
   * throws when it fails before the answer's first byte, and ends the response when it fails later.
   */
  async pass(route: string, payload: unknown, response: ServerResponse, signal: AbortSignal): Promise<number> {
    const answer = await this.#ask("POST", route, payload, signal);
    const headers = Object.entries(answer.headers).filter(([name]) => !OWN_HEADERS.has(name));
    const status = answer.statusCode ?? 502;
    response.writeHead(status, Object.fromEntries(headers));
    response.flushHeaders();
    await pipeline(answer, response, { signal });
    return status;
  }

  async #ask(method: string, path: string, payload: unknown, signal: AbortSignal): Promise<IncomingMessage> {
    const body = payload === undefined ? undefined : Buffer.from(JSON.stringify(payload));
    const url = `${this.#url}${path}`;
    const content = body ? { "content-type": "application/json", "content-length": body.length } : {};
    const ask = url.startsWith("https:") ? requestHttps : requestHttp;
    // Each request has a new connection: the backend may close a kept one in the moment that it is used.
    const asked = ask(url, { method, agent: false, signal, headers: content });
    asked.end(body);
    const [answer]: IncomingMessage[] = await once(asked, "response", { signal });
    if (answer === undefined) throw new Error("it gave no answer");
    return answer;
  }
}

export function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
