import type { WorkerEnvironment } from "./environment.ts";
import { UsedTickets, type AuthData } from "./routed-request.ts";
import type { SigningKey } from "./signature.ts";
import { isTicketGood } from "./ticket.ts";
import type { Workload } from "./workload.ts";

/** `undefined` is yes; else what the client is told, and whether the request was its own to be refused. */
export type Refusal = { readonly status: number; readonly error: string; readonly isRejected: boolean };

type State = "loading" | "ready" | "draining";

/** Decides who is served, and when not. */
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
   * Whether the router sent it here, and not too long ago. What comes within a session was sent when the session was opened,
   * so that `nowSeconds` is undefined for it.
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

  /** Asked in one go with `accept`, so that of two who come at once with the same only one is served. */
  findRepetition(auth: AuthData | undefined): Refusal | undefined {
    if (this.#environment.isUnsecured || auth === undefined || !this.#tickets.isUsed(auth)) return undefined;
    return refusal(401, "the request was here before");
  }

  /** Whether there is room for it. */
  findCrowding(): Refusal | undefined {
    if (this.state !== "ready") {
      const error = this.state === "loading" ? "the worker is still loading" : "the worker takes no new requests";
      return { status: 503, error, isRejected: true };
    }
    if (this.#workload.currentLoad / this.perf <= this.#maxQueueSeconds) return undefined;
    return { status: 429, error: "the worker has too much to do", isRejected: true };
  }

  /** From here on the same request is a repetition. */
  accept(auth: AuthData | undefined): void {
    if (auth !== undefined) this.#tickets.use(auth);
  }

  /** It failed: its client asks again, and servers that count apart may send it here under the same number. */
  forget(auth: AuthData | undefined): void {
    if (auth !== undefined) this.#tickets.giveBack(auth);
  }
}

function refusal(status: number, error: string): Refusal {
  return { status, error, isRejected: false };
}
