// HTTP and WebSockets from the host names of instances' ports to the ports, through tunnels to their hosts.
import {
  createServer,
  request as httpRequest,
  STATUS_CODES,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { Clock } from "../base/clock.ts";
import type { InstanceId, MachineId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { parsePortName, type PortName } from "./port-name.ts";
import { NoTunnel, streamOf, TunnelAgent } from "./tunnel-agent.ts";

/** The place that a name leads to, or the reason why it leads nowhere now. */
export type PortPlace =
  | { readonly kind: "open"; readonly instanceId: InstanceId; readonly machineId: MachineId }
  | { readonly kind: "unknown" }
  | { readonly kind: "stopped" }
  | { readonly kind: "offline" }
  | { readonly kind: "old_agent" };

export type PortNamesMeans = {
  readonly domain: string;
  readonly findPlace: (name: PortName) => Promise<PortPlace>;
  readonly openTunnel: (place: {
    readonly machineId: MachineId;
    readonly instanceId: InstanceId;
    readonly port: number;
  }) => Promise<WebSocket | undefined>;
  /** Counts bytes out of an instance's container, from a connection that opens now. */
  readonly countSent: (instanceId: InstanceId) => (bytes: number) => void;
  readonly isTrustedProxy: (address: string) => boolean;
  readonly clock: Clock;
  readonly log: Log;
};

const HEADERS_LIMIT_MS = 20_000;
const KEEP_ALIVE_MS = 60_000;
/** A place is asked for again after this time: a page asks for many files at once. */
const PLACE_KEPT_MS = 1_000;
const PLACES_MAX = 10_000;
/** Open WebSockets of one port. */
const UPGRADES_PER_PORT_MAX = 256;

/** Headers that belong to one connection (RFC 9110 section 7.6.1), and those by which this server says who asks. */
const NOT_PASSED_ON = new Set([
  ...["connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization", "te", "trailer"],
  ...["transfer-encoding", "upgrade", "http2-settings", "forwarded"],
]);
const OWN = new Set(["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"]);

type Kept = { readonly place: Promise<PortPlace>; readonly untilMs: number };
type Found = { readonly name: PortName; readonly place: Extract<PortPlace, { readonly kind: "open" }> };

/**
 * Serves the host names of ports. It knows no user and no key: a port that a renter publishes is public here as it is at its
 * host, and nothing else of the container can be reached. Pages of renters have names apart from the console's, so browsers
 * keep their scripts and cookies apart.
 */
export class PortNames {
  readonly server: Server;
  readonly #means: PortNamesMeans;
  readonly #agent: TunnelAgent;
  readonly #places = new Map<string, Kept>();
  readonly #upgrades = new Map<string, number>();
  readonly #open = new Set<Duplex>();

  constructor(means: PortNamesMeans) {
    this.#means = means;
    this.#agent = new TunnelAgent(({ host, port }) => this.#dial(Number(host), port), means.clock);
    this.server = createServer({
      headersTimeout: HEADERS_LIMIT_MS,
      // Uploads may last; a client that sends nothing costs no memory here.
      requestTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
    });
    this.server.on("request", (request, response) => void this.#serve(request, response));
    this.server.on("upgrade", (request, socket, head) => void this.#upgrade(request, socket, head));
    this.server.on("connect", (_request, socket) => socket.destroy());
  }

  /** Ends all connections. */
  close(): void {
    this.server.close();
    this.server.closeAllConnections();
    for (const stream of this.#open) stream.destroy();
    this.#agent.destroy();
  }

  async #dial(instanceId: number, port: number): Promise<Duplex | undefined> {
    const place = await this.#placeOf({ instanceId, port });
    if (place.kind !== "open") return undefined;
    const tunnel = await this.#means.openTunnel({ ...place, port });
    if (tunnel === undefined) return undefined;
    const stream = streamOf(tunnel, this.#means.countSent(place.instanceId));
    stream.on("error", () => stream.destroy());
    this.#open.add(stream);
    stream.once("close", () => {
      this.#open.delete(stream);
      tunnel.terminate();
    });
    return stream;
  }

  #placeOf(name: PortName): Promise<PortPlace> {
    const key = `${name.instanceId}-${name.port}`;
    const nowMs = this.#means.clock.monotonicMs();
    const kept = this.#places.get(key);
    if (kept !== undefined && kept.untilMs > nowMs) return kept.place;
    if (this.#places.size >= PLACES_MAX) this.#places.clear();
    const place = this.#means.findPlace(name);
    this.#places.set(key, { place, untilMs: nowMs + PLACE_KEPT_MS });
    place.catch(() => this.#places.delete(key));
    return place;
  }

  /** The place of a request; undefined once it was refused. */
  async #find(request: IncomingMessage, refuse: (refusal: Refusal) => void): Promise<Found | undefined> {
    const name = parsePortName(request.headers.host, this.#means.domain);
    if (name === undefined) {
      refuse(UNKNOWN);
      return undefined;
    }
    try {
      const place = await this.#placeOf(name);
      if (place.kind === "open") return { name, place };
      refuse(REFUSALS[place.kind]);
    } catch (error) {
      this.#means.log.warn({ err: error }, "the place of a port could not be looked up");
      refuse(BROKEN);
    }
    return undefined;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refuse = (refusal: Refusal) => answer(response, refusal);
    const found = await this.#find(request, refuse);
    if (found !== undefined) this.#forward(request, response, found.name);
  }

  #forward(request: IncomingMessage, response: ServerResponse, name: PortName): void {
    const upstream = httpRequest({ ...placeOptions(name), ...this.#head(request), agent: this.#agent });
    const giveUp = () => {
      upstream.destroy();
      answer(response, BROKEN);
    };
    upstream.on("response", (from) => {
      if (!isFinal(from)) return giveUp();
      response.writeHead(from.statusCode, passedOn(from.rawHeaders));
      from.pipe(response);
      from.on("error", () => response.destroy());
    });
    // Nobody asked for another protocol.
    upstream.on("upgrade", (_from, stream) => {
      stream.destroy();
      giveUp();
    });
    upstream.on("error", (error) => {
      if (response.headersSent) return void response.destroy();
      // A server may close a silent connection in the moment in which a request goes out on it.
      const mayRepeat = upstream.reusedSocket && isWithoutBody(request) && !response.destroyed;
      if (mayRepeat) return this.#forward(request, response, name);
      answer(response, error instanceof NoTunnel ? REFUSALS.silent : BROKEN);
    });
    response.once("close", () => upstream.destroy());
    if (isWithoutBody(request)) upstream.end();
    else request.pipe(upstream);
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on("error", () => socket.destroy());
    const refuse = ({ status, text }: Refusal) => {
      const page = pageOf(text);
      const length = Buffer.byteLength(page);
      socket.end(
        `HTTP/1.1 ${status} Refused\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n${page}`,
      );
    };
    const found = await this.#find(request, refuse);
    if (found === undefined || socket.destroyed) return;
    const key = `${found.name.instanceId}-${found.name.port}`;
    const openCount = this.#upgrades.get(key) ?? 0;
    if (openCount >= UPGRADES_PER_PORT_MAX) return refuse(REFUSALS.busy);
    this.#upgrades.set(key, openCount + 1);
    socket.once("close", () => {
      const left = (this.#upgrades.get(key) ?? 1) - 1;
      if (left > 0) this.#upgrades.set(key, left);
      else this.#upgrades.delete(key);
    });
    this.#forwardUpgrade({ request, socket, head }, found.name, refuse);
  }

  #forwardUpgrade({ request, socket, head }: Knock, name: PortName, refuse: (refusal: Refusal) => void): void {
    const { headers, ...rest } = this.#head(request);
    const asked = [...headers, "Connection", "Upgrade", "Upgrade", request.headers.upgrade ?? "websocket"];
    const upstream = httpRequest({ ...placeOptions(name), ...rest, headers: asked, agent: this.#agent });
    let isAnswered = false;
    socket.once("close", () => upstream.destroy());
    upstream.on("error", (error) => {
      if (isAnswered) socket.destroy();
      else refuse(error instanceof NoTunnel ? REFUSALS.silent : BROKEN);
    });
    upstream.on("upgrade", (from, stream, rest) => {
      isAnswered = true;
      socket.write(headOf(from, ["Connection", "Upgrade", "Upgrade", from.headers.upgrade ?? "websocket"]));
      if (rest.length > 0) socket.write(rest);
      if (head.length > 0) stream.write(head);
      join(socket, stream);
    });
    upstream.on("response", (from) => {
      if (!isFinal(from)) {
        upstream.destroy();
        return refuse(BROKEN);
      }
      // The refusal of the program itself; nothing more comes on this connection.
      isAnswered = true;
      socket.write(headOf(from, ["Connection", "close"]));
      from.pipe(socket);
      from.on("error", () => socket.destroy());
    });
    upstream.end();
  }

  /** The request as the program gets it: who asks is said by this server, or by a proxy that it trusts. */
  #head({ method, url, rawHeaders, socket, headers }: IncomingMessage) {
    const address = socket.remoteAddress ?? "";
    const isTrusted = this.#means.isTrustedProxy(address);
    const said = isTrusted ? [headers["x-forwarded-for"]].flat().filter((one) => one !== undefined) : [];
    const own = [
      ...["X-Forwarded-For", [...said, address].join(", ")],
      ...["X-Forwarded-Proto", "https", "X-Forwarded-Host", headers.host ?? ""],
    ];
    const passed = passedOn(rawHeaders, (name) => !OWN.has(name));
    return { method, path: url, headers: [...passed, ...own] };
  }
}

type Knock = { readonly request: IncomingMessage; readonly socket: Duplex; readonly head: Buffer };

/** Names and values in turn, without those of one connection. */
function passedOn(rawHeaders: readonly string[], isWanted: (name: string) => boolean = () => true): string[] {
  const named = rawHeaders.flatMap((text, index) =>
    index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === "connection"
      ? text.split(",").map((one) => one.trim().toLowerCase())
      : [],
  );
  const dropped = new Set([...NOT_PASSED_ON, ...named]);
  return rawHeaders.filter((_, index) => {
    const name = (rawHeaders[index - (index % 2)] ?? "").toLowerCase();
    return !dropped.has(name) && isWanted(name);
  });
}

/** True for an answer that a client can be given: Node reads any three digits as a status, and writes only some of them. */
function isFinal(from: IncomingMessage): from is IncomingMessage & { readonly statusCode: number } {
  return from.statusCode !== undefined && from.statusCode >= 200;
}

/** The first lines of an answer that is written by hand. The program's own words for its status are left out, as any text is in them. */
function headOf({ statusCode = 0, rawHeaders }: IncomingMessage, own: readonly string[]): string {
  const headers = [...passedOn(rawHeaders), ...own];
  const lines = headers.flatMap((text, index) => (index % 2 === 0 ? [`${text}: ${headers[index + 1] ?? ""}`] : []));
  return `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode] ?? ""}\r\n${lines.join("\r\n")}\r\n\r\n`;
}

function join(one: Duplex, other: Duplex): void {
  one.pipe(other);
  other.pipe(one);
  one.once("close", () => other.destroy());
  other.once("close", () => one.destroy());
  other.on("error", () => one.destroy());
}

function placeOptions({ instanceId, port }: PortName) {
  return { host: String(instanceId), port, setHost: false };
}

function isWithoutBody({ headers, method }: IncomingMessage): boolean {
  const hasBody = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
  return !hasBody && (method === "GET" || method === "HEAD");
}

type Refusal = { readonly status: number; readonly text: string };

const UNKNOWN: Refusal = {
  status: 404,
  text: "There is no such port. Names are such as 7-8080 for port 8080 of instance 7, which must publish it.",
};
const BROKEN: Refusal = { status: 502, text: "The program at this port broke the connection off. Try again." };
const REFUSALS = {
  unknown: UNKNOWN,
  stopped: { status: 503, text: "The instance does not run now. Start it, and load this page again." },
  offline: { status: 503, text: "The host of the instance is not connected now. Try again in a minute." },
  old_agent: { status: 503, text: "The host of the instance has an older agent, which opens no ports by name yet." },
  silent: {
    status: 502,
    text: "Nothing listens at this port of the instance. Start the program, and load this page again.",
  },
  busy: { status: 503, text: "This port has as many open connections as it may have. Close one first." },
} satisfies Readonly<Record<string, Refusal>>;

function answer(response: ServerResponse, { status, text }: Refusal): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    ...(status === 503 ? { "retry-after": "10" } : {}),
  });
  response.end(pageOf(text));
}

function pageOf(text: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Berth</title><style>:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}</style>
</head><body><h1>Nothing here now</h1><p>${text}</p></body></html>
`;
}
