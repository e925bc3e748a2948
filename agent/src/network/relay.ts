import { once } from "node:events";
import { Agent as HttpAgent, createServer, request as requestHttp, type ClientRequest } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { BlockList, isIP, type Socket } from "node:net";
import { pipeline } from "node:stream/promises";
import type { Clock } from "../base/clock.ts";
import type { NetworkAddress } from "../engine/engine.ts";
import type { Log } from "../base/log.ts";
import { isErrand } from "./errands.ts";

/**
 * The way of programs in containers to the server: they do not reach the host's services, and a server on the same
 * machine may listen on its loopback alone. It listens where the host is on the containers' network, and carries the few
 * requests of `errands.ts`, one at a time for each connection.
 */
export type Relay = {
  readonly address: string;
  readonly port: number;
  /** The server's address for containers, without a slash at the end. */
  readonly url: string;
  close(): Promise<void>;
};

export type RelayLimits = {
  readonly connectionsPerContainer: number;
  readonly connections: number;
  /** Requests per second on average; those of a few seconds may come at once. */
  readonly requestsPerSecond: number;
  readonly bodyBytes: number;
  readonly headerBytes: number;
  /** The time for a whole request. */
  readonly requestMs: number;
  /** The time without a byte from or to the server, or to the container. */
  readonly idleMs: number;
  /** The time for a whole answer, whether the server or the container is slow. */
  readonly answerMs: number;
};

export const RELAY_LIMITS: RelayLimits = {
  connectionsPerContainer: 16,
  connections: 1_024,
  requestsPerSecond: 200,
  bodyBytes: 1024 * 1024,
  headerBytes: 8 * 1024,
  requestMs: 15_000,
  idleMs: 30_000,
  answerMs: 600_000,
};

/**
 * Containers keep the address that they were made with, so it is the first that is free of these after each start: of
 * no known service, and below the ports that kernels give out by themselves.
 */
const PORTS = [18_432, 18_433, 18_434, 18_435] as const;

/** Headers of requests and of answers that the relay passes on; all others concern one connection alone. */
const REQUEST_HEADERS = ["authorization", "content-type", "accept", "idempotency-key"] as const;
const ANSWER_HEADERS = ["content-type", "content-disposition", "content-length", "location", "retry-after"] as const;

export type RelayInput = {
  /** The API address of the server that has the agent's session now. */
  readonly apiUrl: () => string;
  readonly place: NetworkAddress;
  readonly limits: RelayLimits;
  /** Ports that are not to be taken, since they are renters'. */
  readonly isForRenters: (port: number) => boolean;
  readonly clock: Clock;
  readonly log: Log;
};

/** Opens the relay; undefined when none of the ports is free. */
export async function openRelay(input: RelayInput): Promise<Relay | undefined> {
  for (const port of PORTS) {
    if (input.isForRenters(port)) continue;
    const relay = await listenAt(input, port);
    if (relay) return relay;
  }
  return undefined;
}

async function listenAt(input: RelayInput, port: number): Promise<Relay | undefined> {
  const { gateway } = input.place;
  const made = createRelayServer(input);
  const { server } = made;
  try {
    server.listen(port, gateway);
    await once(server, "listening");
  } catch {
    made.close();
    return undefined;
  }
  return {
    address: gateway,
    port,
    url: `http://${gateway}:${port}`,
    async close() {
      const closed = once(server, "close");
      made.close();
      await closed;
    },
  };
}

/** The server itself, which does not listen yet. */
export function createRelayServer(input: RelayInput): { readonly server: Server; close(): void } {
  const { limits, place, log } = input;
  const pool = { keepAlive: true, maxFreeSockets: 8 };
  const agents = { plain: new HttpAgent(pool), secure: new HttpsAgent(pool) };
  const busy = new WeakSet<Socket>();
  const isInTime = createPace(input);
  const server = createServer(
    {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.requestMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: Math.ceil(limits.requestMs / 5),
      keepAliveTimeout: limits.requestMs,
      insecureHTTPParser: false,
    },
    (request, response) => {
      // A second request before the answer to the first: no client of ours does this.
      if (busy.has(request.socket)) return void request.socket.destroy();
      busy.add(request.socket);
      response.once("close", () => busy.delete(request.socket));
      if (!isInTime(request.socket.remoteAddress ?? "")) {
        return refuse(response, 429, "too_many_requests", "This container asks too much at once.");
      }
      carry(request, response, { ...input, agents }).catch((error: unknown) => {
        log.debug({ problem: String(error) }, "a request of a container could not be carried");
        if (response.headersSent) response.destroy();
        else refuse(response, 502, "server_unreachable", "The server cannot be reached from this host now.");
      });
    },
  );
  // Small clients such as busybox's wget say at once that they send no more, and then wait for the answer.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.maxConnections = limits.connections;
  server.setTimeout(limits.idleMs);
  guardConnections(server, place, limits);
  return {
    server,
    close() {
      server.close();
      server.closeAllConnections();
      agents.plain.destroy();
      agents.secure.destroy();
    },
  };
}

/** Serves containers of this network alone, and none of them more than its share. */
function guardConnections(server: Server, { subnet }: NetworkAddress, limits: RelayLimits): void {
  const containers = new BlockList();
  const [base = "", prefix = "32"] = subnet.split("/");
  containers.addSubnet(base, Number(prefix), isIP(base) === 6 ? "ipv6" : "ipv4");
  const counts = new Map<string, number>();
  server.on("connection", (socket) => {
    const { remoteAddress = "" } = socket;
    const count = counts.get(remoteAddress) ?? 0;
    if (isIP(remoteAddress) !== 4 || !containers.check(remoteAddress) || count >= limits.connectionsPerContainer) {
      socket.destroy();
      return;
    }
    counts.set(remoteAddress, count + 1);
    socket.once("close", () => {
      const left = (counts.get(remoteAddress) ?? 1) - 1;
      if (left > 0) counts.set(remoteAddress, left);
      else counts.delete(remoteAddress);
    });
  });
}

const BURST_MS = 3_000;
const PACES_MAX = 10_000;

/**
 * Returns true for a container that asks slowly enough: none may use up the requests that the server allows this host.
 */
function createPace({ clock, limits }: RelayInput): (container: string) => boolean {
  const intervalMs = 1_000 / limits.requestsPerSecond;
  /** The end of the time that a container's requests take at the allowed pace. */
  const busyUntilMs = new Map<string, number>();
  return (container) => {
    const nowMs = clock.monotonicMs();
    const untilMs = Math.max(busyUntilMs.get(container) ?? 0, nowMs) + intervalMs;
    if (untilMs - nowMs > BURST_MS) return false;
    if (busyUntilMs.size >= PACES_MAX) busyUntilMs.clear();
    busyUntilMs.set(container, untilMs);
    return true;
  };
}

type Way = RelayInput & { readonly agents: { readonly plain: HttpAgent; readonly secure: HttpsAgent } };

async function carry(request: IncomingMessage, response: ServerResponse, way: Way): Promise<void> {
  const { method = "", url: target = "" } = request;
  if (!isErrand(method, target)) return refuse(response, 404, "not_found", "Nothing is here.");
  const body = await readBody(request, way.limits.bodyBytes);
  if (body === undefined) return refuse(response, 413, "too_large", "The request is too large.");
  const ended = new AbortController();
  response.once("close", () => ended.abort());
  const signal = AbortSignal.any([ended.signal, AbortSignal.timeout(way.limits.answerMs)]);
  const asked = askServer(way, { request, body, signal });
  const [answer]: IncomingMessage[] = await once(asked, "response", { signal });
  if (answer === undefined) throw new Error("the server gave no answer");
  response.writeHead(answer.statusCode ?? 502, pick(answer.headers, ANSWER_HEADERS));
  await pipeline(answer, response, { signal });
}

function askServer(
  { apiUrl, agents, limits }: Way,
  { request, body, signal }: { readonly request: IncomingMessage; readonly body: Buffer; readonly signal: AbortSignal },
): ClientRequest {
  const { method = "", url: target = "" } = request;
  const base = new URL(apiUrl());
  const isSecure = base.protocol === "https:";
  const ask = isSecure ? requestHttps : requestHttp;
  const asked = ask(`${base.origin}${base.pathname.replace(/\/+$/, "")}${target}`, {
    method,
    agent: isSecure ? agents.secure : agents.plain,
    signal,
    timeout: limits.idleMs,
    headers: {
      ...pick(request.headers, REQUEST_HEADERS),
      ...hostHeader(base, request),
      // Without it Node does not announce the body of a GET or DELETE, and the server takes it for the next request.
      "content-length": body.length,
    },
  });
  asked.once("timeout", () => asked.destroy(new Error("the server was silent for too long")));
  return asked.end(body);
}

/**
 * A server that is known by a mere address may be out of the container's reach: it then answers with links to where the
 * request came in. A name may choose among several servers behind one address, so that is kept.
 */
function hostHeader({ hostname }: URL, request: IncomingMessage): { readonly host?: string } {
  const isNameless = hostname === "localhost" || isIP(hostname.replace(/^\[(.*)\]$/, "$1")) !== 0;
  const { localAddress, localPort } = request.socket;
  return isNameless && localAddress !== undefined ? { host: `${localAddress}:${localPort}` } : {};
}

/** The whole body, or undefined when it is larger than allowed. */
async function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > limitBytes) return undefined;
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request.iterator({ destroyOnReturn: false })) {
    if (!Buffer.isBuffer(part)) continue;
    size += part.length;
    if (size > limitBytes) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Refuses a request and ends its connection: the rest of it is not read. */
function refuse(response: ServerResponse, status: number, error: string, msg: string): void {
  const text = JSON.stringify({ success: false, error, msg });
  response.writeHead(status, { "content-type": "application/json", connection: "close" }).end(text);
}

function pick(headers: IncomingMessage["headers"], names: readonly string[]): Record<string, string | string[]> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headers[name];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}
