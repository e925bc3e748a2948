import { ServerResponse, type IncomingMessage } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { WebSocketServer, type WebSocket } from "ws";
import { AppError, forbidden } from "../base/errors.ts";
import { isSameOrigin } from "./callers/same-origin.ts";
import type { App } from "./types.ts";

/** Paths of clients' WebSockets. All other paths with an upgrade are served as if they had asked for none. */
const CLIENT_PATH = /^\/api\/v0\/instances\/\d{1,10}\/terminal\/?(?:\?|$)/;
/** Bytes of one message at most. */
const MESSAGE_BYTES_MAX = 1_048_576;

type Knock = { readonly socket: Duplex; readonly head: Buffer };

/** True for a path at which clients open WebSockets. */
export function isClientPath(url: string): boolean {
  return CLIENT_PATH.test(url);
}

/**
 * WebSockets of clients. Their requests take the way of all others, so that authentication, permissions, limits and errors
 * are the same; a route then takes the connection over.
 */
export class WebSockets {
  readonly #knocks = new WeakMap<IncomingMessage, Knock>();
  readonly #sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: MESSAGE_BYTES_MAX,
    clientTracking: false,
  });

  constructor(app: App) {
    app.server.on("upgrade", (request, socket, head) => {
      if (!isClientPath(request.url ?? "")) return;
      socket.on("error", () => socket.destroy());
      if (!(socket instanceof Socket)) return void socket.destroy();
      this.#knocks.set(request, { socket, head });
      const response = new ServerResponse(request);
      // After an upgrade nobody reads further requests from the connection.
      response.shouldKeepAlive = false;
      response.assignSocket(socket);
      response.once("finish", () => socket.destroySoon());
      app.routing(request, response);
    });
  }

  /**
   * Refuses a request that asks for no WebSocket, or that a page of another site makes with the cookie of a person:
   * browsers let every page open WebSockets, and send the cookie along.
   */
  requireUpgrade(request: FastifyRequest): void {
    if (!this.#knocks.has(request.raw)) {
      const message = "This path opens a WebSocket: send the request with Upgrade: websocket.";
      throw new AppError("invalid", "websocket_required", message);
    }
    if (request.headers.authorization !== undefined || isSameOrigin(request)) return;
    throw forbidden("A page of another site may not open this.", "foreign_origin");
  }

  /** Opens the WebSocket. The socket is paused, so that no message is lost before somebody listens. */
  async open(request: FastifyRequest, reply: FastifyReply): Promise<WebSocket | undefined> {
    const knock = this.#knocks.get(request.raw);
    reply.hijack();
    if (knock === undefined || knock.socket.destroyed) return undefined;
    if (knock.socket instanceof Socket) reply.raw.detachSocket(knock.socket);
    return new Promise((resolve) => {
      // A handshake that is malformed is answered by the library, and no socket comes of it.
      knock.socket.once("close", () => resolve(undefined));
      this.#sockets.handleUpgrade(request.raw, knock.socket, knock.head, (socket) => {
        socket.on("error", () => socket.terminate());
        socket.pause();
        resolve(socket);
      });
    });
  }
}
