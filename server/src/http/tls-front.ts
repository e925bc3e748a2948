import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from "node:http";
import type { Socket } from "node:net";
import { createServer as createTlsServer, type SecureContext, type Server as TlsServer } from "node:tls";
import { CONNECTIONS_PER_ADDRESS, limitConnections } from "./connection-limit.ts";

export type TlsFrontMeans = {
  /** The certificate for a client that asks for this name; undefined while there is none. */
  readonly contextFor: (host: string) => SecureContext | undefined;
  /** The server that gets a connection of a client that asked for this name. */
  readonly serverFor: (host: string) => HttpServer;
  /** The answer to a challenge of a certificate authority. */
  readonly answerTo: (token: string) => Promise<string | undefined>;
  /** The name that requests without encryption are sent to, unless they name another one that is served. */
  readonly domain: string;
  readonly isServed: (host: string) => boolean;
};

export type Listening = {
  readonly host: string | undefined;
  readonly httpsPort: number;
  readonly httpPort: number | undefined;
};

const HANDSHAKE_LIMIT_MS = 15_000;
const REQUEST_LIMIT_MS = 30_000;
const CHALLENGE_PATH = /^\/\.well-known\/acme-challenge\/([A-Za-z0-9_-]{1,256})$/;

/**
 * Ends TLS for HTTP servers that know nothing of it, so that each connection meets the rules of those servers. A port for
 * HTTP answers challenges and sends everything else to the one with TLS.
 */
export class TlsFront {
  readonly #tls: TlsServer;
  readonly #plain: HttpServer;
  readonly #means: TlsFrontMeans;
  /** Connections in their handshake, which no server knows yet, by the client's address and port. */
  readonly #handshaking = new Map<string, Socket>();
  #httpsPort = 443;

  constructor(means: TlsFrontMeans) {
    this.#means = means;
    this.#tls = createTlsServer({
      minVersion: "TLSv1.2",
      ALPNProtocols: ["http/1.1"],
      handshakeTimeout: HANDSHAKE_LIMIT_MS,
      SNICallback: (host, done) => {
        const context = means.contextFor(host.toLowerCase());
        if (context === undefined) done(new Error(`there is no certificate for ${host} yet`));
        else done(null, context);
      },
    });
    limitConnections(this.#tls, { perAddress: CONNECTIONS_PER_ADDRESS, isProxy: () => false });
    this.#tls.on("connection", (socket: Socket) => {
      const client = clientOf(socket);
      this.#handshaking.set(client, socket);
      socket.once("close", () => this.#handshaking.delete(client));
    });
    // A client that names no host has no certificate, and thus no handshake.
    this.#tls.on("secureConnection", (socket) => {
      this.#handshaking.delete(clientOf(socket));
      means.serverFor(String(socket.servername).toLowerCase()).emit("connection", socket);
    });
    // A client that ends its handshake, or has none to offer, is no concern of anybody.
    this.#tls.on("tlsClientError", (_error, socket) => socket.destroy());
    this.#plain = createHttpServer(
      { requestTimeout: REQUEST_LIMIT_MS, headersTimeout: HANDSHAKE_LIMIT_MS, requireHostHeader: false },
      (request, response) => void this.#answerPlain(request, response),
    );
    limitConnections(this.#plain, { perAddress: CONNECTIONS_PER_ADDRESS, isProxy: () => false });
  }

  async listen({ host, httpsPort, httpPort }: Listening): Promise<void> {
    await listenOn(this.#tls, httpsPort, host);
    const address = this.#tls.address();
    this.#httpsPort = typeof address === "object" && address !== null ? address.port : httpsPort;
    if (httpPort !== undefined) await listenOn(this.#plain, httpPort, host);
  }

  /** The port of HTTPS. */
  get port(): number {
    return this.#httpsPort;
  }

  /** Takes no further connections. Those that are open belong to the servers that got them. */
  close(): void {
    this.#tls.close();
    for (const socket of this.#handshaking.values()) socket.destroy();
    this.#plain.close();
    this.#plain.closeAllConnections();
  }

  async #answerPlain(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const token = CHALLENGE_PATH.exec(request.url ?? "")?.[1];
    if (token !== undefined) return this.#answerChallenge(token, response);
    const { domain, isServed } = this.#means;
    const named = (request.headers.host ?? "").replace(/:\d+$/, "").toLowerCase();
    const host = isServed(named) ? named : domain;
    const port = this.#httpsPort === 443 ? "" : `:${this.#httpsPort}`;
    const path = request.url?.startsWith("/") === true ? request.url : "/";
    // A redirection of any other method would lose what was sent, keys included: the sender is to mend its address.
    const isRead = request.method === "GET" || request.method === "HEAD";
    response.writeHead(isRead ? 308 : 400, {
      ...(isRead ? { location: `https://${host}${port}${path}` } : {}),
      ...{ "content-type": "text/plain; charset=utf-8", connection: "close" },
    });
    response.end(`Use https://${host}${port}: this port has no encryption.\n`);
  }

  async #answerChallenge(token: string, response: ServerResponse): Promise<void> {
    const answer = await this.#means.answerTo(token).catch(() => undefined);
    response.writeHead(answer === undefined ? 404 : 200, { "content-type": "text/plain", connection: "close" });
    response.end(answer ?? "Nobody waits for this challenge.\n");
  }
}

function clientOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function listenOn(server: HttpServer | TlsServer, port: number, host: string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}
