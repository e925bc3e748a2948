import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket } from "ws";
import { pass } from "./copies.ts";

const HANDSHAKE_MS = 5_000;
const MESSAGE_BYTES_MAX = 4_194_304;

/** The server and path of a relayed stream. */
export type RelayTarget = {
  /** The server's address: `http://host:port`. */
  readonly address: string;
  readonly path: string;
  /** Header that proves that this server has the secret of the database. */
  readonly authorization: string;
};

export type Reached =
  | { readonly kind: "open"; readonly socket: WebSocket }
  /** The server answered with an HTTP status instead of a stream. */
  | { readonly kind: "answered"; readonly status: number }
  /** The server could not be reached. */
  | { readonly kind: "failed"; readonly problem: string };

/** Opens a stream to another server. The socket is paused, so that no byte is lost before somebody listens. */
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

/** Passes bytes between two streams, no faster than each is read, until one of them ends. */
export function relay(one: WebSocket, other: WebSocket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    pass(from, to, () => {});
    from.on("error", () => {});
    from.once("close", (code, reason) => {
      // A paused socket would not notice that the stream is over.
      to.resume();
      // Programs may not send close codes below 3000 other than 1000.
      to.close(code >= 3000 ? code : 1000, reason);
    });
    from.resume();
  }
}

/** Ends a stream to another server when the client that it was opened for goes away before it is served. */
export function endWith(socket: Duplex, upstream: WebSocket): () => void {
  const end = () => upstream.terminate();
  socket.once("close", end);
  return () => socket.off("close", end);
}
