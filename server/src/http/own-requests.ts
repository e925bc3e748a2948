import { randomBytes } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { Identity } from "../base/identity.ts";
import type { App } from "./types.ts";

/** A request that the server sends to itself. */
export type OwnRequest = {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** The path with its query. */
  readonly endpoint: string;
  readonly body: Readonly<Record<string, unknown>>;
};

export type OwnAnswer = {
  readonly status: number;
  /** The parsed body of an answer in JSON; undefined for any other. */
  readonly body: unknown;
  readonly retryAfterMs: number | undefined;
};

/**
 * Requests of the server to itself in the name of a key, for scheduled jobs. They take the way of a client's request:
 * limits, permissions, constraints and validation are the same. Instead of the key's secret, which the server does not
 * have, they carry a random token that is good for this one request.
 */
export class OwnRequests {
  readonly #app: App;
  readonly #callers = new Map<string, Identity>();
  #isClosing = false;

  constructor(app: App) {
    this.#app = app;
    app.addHook("preClose", async () => {
      this.#isClosing = true;
    });
  }

  /** The caller of a request of the server itself; undefined for any other request. */
  callerOf({ headers }: FastifyRequest): Identity | undefined {
    return headers.authorization === undefined ? undefined : this.#callers.get(headers.authorization);
  }

  /** Sends a request as this caller; undefined, without sending it, when the server closes. */
  async send(identity: Identity, { method, endpoint, body }: OwnRequest): Promise<OwnAnswer | undefined> {
    if (this.#isClosing) return undefined;
    const token = `Own ${randomBytes(32).toString("base64url")}`;
    this.#callers.set(token, identity);
    try {
      const headers = { authorization: token, "content-type": "application/json" };
      const hasBody = method !== "GET";
      const payload = hasBody ? { payload: JSON.stringify(body) } : {};
      const answer = await this.#app.inject({ method, url: endpoint, headers, ...payload });
      const isJson = String(answer.headers["content-type"]).startsWith("application/json") && answer.body !== "";
      const seconds = Number(answer.headers["retry-after"] ?? Number.NaN);
      return {
        status: answer.statusCode,
        body: isJson ? JSON.parse(answer.body) : undefined,
        retryAfterMs: Number.isFinite(seconds) ? seconds * 1_000 : undefined,
      };
    } finally {
      this.#callers.delete(token);
    }
  }
}
