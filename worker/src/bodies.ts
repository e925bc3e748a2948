import type { IncomingMessage, ServerResponse } from "node:http";
import { answer } from "./answers.ts";

export type BodyLimits = {
  readonly one_bytes: number;
  /** The limit of all bodies that are being read: their senders are unknown until a body is complete. */
  readonly all_bytes: number;
};

/** Prompts with images in them are large. */
export const BODY_LIMITS: BodyLimits = { one_bytes: 64 * 1024 * 1024, all_bytes: 512 * 1024 * 1024 };

/** Reads the bodies of requests, within the memory that the worker has for them. */
export class Bodies {
  readonly #limits: BodyLimits;
  #bytes = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /** The whole body as text; undefined when it was refused, and the client has been answered. */
  async read(request: IncomingMessage, response: ServerResponse): Promise<string | undefined> {
    const parts: Buffer[] = [];
    let size = 0;
    try {
      for await (const part of request.iterator({ destroyOnReturn: false })) {
        if (!Buffer.isBuffer(part)) continue;
        size += part.length;
        this.#bytes += part.length;
        if (size > this.#limits.one_bytes) return refuse(response, 413, "the request is too large");
        if (this.#bytes > this.#limits.all_bytes)
          return refuse(response, 503, "the worker receives too many bytes at once");
        parts.push(part);
      }
      return Buffer.concat(parts).toString("utf8");
    } catch {
      return refuse(response, 413, "the request did not come whole");
    } finally {
      this.#bytes -= size;
    }
  }
}

/** Answers and closes the connection: the rest of the body is not read. */
function refuse(response: ServerResponse, status: number, error: string): undefined {
  if (!response.headersSent) response.setHeader("connection", "close");
  return answer(response, status, { error });
}
