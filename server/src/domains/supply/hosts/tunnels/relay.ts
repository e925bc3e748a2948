import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket } from "ws";
import { pass } from "./copies.ts";

const HANDSHAKE_MS = 5_000;
const MESSAGE_BYTES_MAX = 4_194_304;

/** Another server, and what it is asked for. */
export type RelayTarget = {
  /** Where it is reached: `http://host:port`. */
  readonly address: string;
  readonly path: string;
  /** Shows that this server has the secret of the database. */
  readonly authorization: string;
};

export type Reached =
  | { readonly kind: "open"; readonly socket: WebSocket }
  /** It answered with a status of HTTP instead. */
  | { readonly kind: "answered"; readonly status: number }
  /** It is not there. */
  | { readonly kind: "failed"; readonly problem: string };

/** Opens a stream to another server. The socket is paused, so that nothing of it is lost before somebody listens. */
export function reachServer({ address, path, authorization }: RelayTarget): Promise<Reached> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`${address.replace(/^http/, "ws")}${path}`, {
      headers: { authorization },
      perMessageDeflate: false,
      maxPayload: MESSAGE_BYTES_MAX,
      handshakeTimeout: HANDSHAKE_MS,
    });
    socket.on("error", (error) => resolve({ kind: "failed", problem: error.message }));
    socket.once("unexpected-response", (_request: unknown, response: IncomingMessage) => {
      response.resume();
      resolve({ kind: "answered", status: response.statusCode ?? 0 });
    });
    socket.once("upgrade", (response) => response.socket.setNoDelay(true));
    socket.once("open", () => {
      socket.pause();
      resolve({ kind: "open", socket });
    });
  });
}

/** Passes on what two streams say, never faster than it is taken, until one of them ends. */
export function relay(one: WebSocket, other: WebSocket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    pass(from, to, () => {});
    from.on("error", () => {});
    from.once("close", (code, reason) => {
      // One that is held up would not notice that it is over.
      to.resume();
      // Codes below 3000 other than 1000 are not for programs to send.
      to.close(code >= 3000 ? code : 1000, reason);
    });
    from.resume();
  }
}

/** Ends a stream to another server when the one that it was opened for goes away before it is served. */
export function endWith(socket: Duplex, upstream: WebSocket): () => void {
  const end = () => upstream.terminate();
  socket.once("close", end);
  return () => socket.off("close", end);
}
