import type { WorkerEnvironment } from "./environment.ts";
import { UsedTickets, type AuthData } from "./routed-request.ts";
import type { SigningKey } from "./signature.ts";
import { isTicketGood } from "./ticket.ts";
import type { Workload } from "./workload.ts";

/**
 * The answer to a refused client; `undefined` in place of a refusal admits the request. `isRejected` if the request
 * was valid and the worker had no room.
 */
export type Refusal = { readonly status: number; readonly error: string; readonly isRejected: boolean };

type State = "loading" | "ready" | "draining";

/** Decides which requests are served, and the answers to the others. */
export class Admission {
  state: State = "loading";
  /** Units a second that the backend does. */
  perf = 0;
  readonly #environment: Pick<WorkerEnvironment, "url" | "token" | "isUnsecured">;
  readonly #key: SigningKey;
  readonly #workload: Workload;
  readonly #maxQueueSeconds: number;
  readonly #tickets = new UsedTickets();

  constructor(input: {
    readonly environment: Pick<WorkerEnvironment, "url" | "token" | "isUnsecured">;
    readonly key: SigningKey;
    readonly workload: Workload;
    readonly maxQueueSeconds: number;
  }) {
    this.#environment = input.environment;
    this.#key = input.key;
    this.#workload = input.workload;
    this.#maxQueueSeconds = input.maxQueueSeconds;
  }

  /**
   * Checks that the router sent the request here, and not too long ago. A request within a session carries the ticket
   * that opened the session, which may be old, so `nowSeconds` is undefined for it.
   */
  async findForgery(auth: AuthData | undefined, nowSeconds: number | undefined): Promise<Refusal | undefined> {
    if (this.#environment.isUnsecured || auth === undefined) return undefined;
    if (auth.url.replace(/\/+$/, "") !== this.#environment.url)
      return refusal(401, "the request is for another worker");
    if (!isTicketGood(auth, this.#environment.token)) return refusal(401, "the ticket is not the server's");
    if (nowSeconds !== undefined && nowSeconds >= auth.expiresAt) {
      return refusal(401, "the ticket has expired: have the request routed again");
    }
    switch (await this.#key.verify(auth.url, auth.signature)) {
      case "good":
        return undefined;
      case "bad":
        return refusal(401, "the signature is not the server's");
      case "unknown":
        return { ...refusal(503, "the server's key is not known here yet"), isRejected: false };
    }
  }

  /** Must run in one turn with `accept`, so that only one of two concurrent copies of a request is served. */
  findRepetition(auth: AuthData | undefined): Refusal | undefined {
    if (this.#environment.isUnsecured || auth === undefined || !this.#tickets.isUsed(auth)) return undefined;
    return refusal(401, "the worker has already taken this request");
  }

  /** Refuses a request while there is no room for it. */
  findCrowding(): Refusal | undefined {
    if (this.state !== "ready") {
      const error = this.state === "loading" ? "the worker is still loading" : "the worker takes no new requests";
      return { status: 503, error, isRejected: true };
    }
    if (this.#workload.currentLoad / this.perf <= this.#maxQueueSeconds) return undefined;
    return { status: 429, error: "the worker has too much to do", isRejected: true };
  }

  /** Marks the request as taken: the next copy of it is a repetition. */
  accept(auth: AuthData | undefined): void {
    if (auth !== undefined) this.#tickets.use(auth);
  }

  /**
   * Allows a failed request again: its client retries, and servers with separate counters may send it here under the
   * same number.
   */
  forget(auth: AuthData | undefined): void {
    if (auth !== undefined) this.#tickets.giveBack(auth);
  }
}

function refusal(status: number, error: string): Refusal {
  return { status, error, isRejected: false };
}
