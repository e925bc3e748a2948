import { Agent, type ClientRequest } from "node:http";
import { Duplex, PassThrough } from "node:stream";
import { createWebSocketStream, type WebSocket } from "ws";
import type { Clock } from "../base/clock.ts";

/** Connections of one port at a time; further requests wait for one of them. */
const CONNECTIONS_PER_PORT_MAX = 64;
const CONNECTIONS_MAX = 4_096;
const IDLE_PER_PORT_MAX = 8;
/** Shorter than servers keep a silent connection. */
const IDLE_MS = 4_000;

export type Dial = (place: { readonly host: string; readonly port: number }) => Promise<Duplex | undefined>;

type Connected = (error: Error | null, stream: Duplex) => void;

/** Keeps connections through tunnels for further requests to the same port: a page loads many files from it. */
export class TunnelAgent extends Agent {
  readonly #dial: Dial;
  readonly #clock: Clock;
  readonly #idle = new WeakMap<Duplex, AbortController>();

  constructor(dial: Dial, clock: Clock) {
    super({
      keepAlive: true,
      maxSockets: CONNECTIONS_PER_PORT_MAX,
      maxTotalSockets: CONNECTIONS_MAX,
      maxFreeSockets: IDLE_PER_PORT_MAX,
    });
    this.#dial = dial;
    this.#clock = clock;
  }

  override createConnection(
    { host, port }: { readonly host?: string | null | undefined; readonly port?: number | string | null | undefined },
    done?: Connected,
  ): undefined {
    void this.#connect({ host: host ?? "", port: Number(port) }, done);
    return undefined;
  }

  async #connect(place: Parameters<Dial>[0], done: Connected | undefined): Promise<void> {
    const stream = await this.#dial(place).catch((error: unknown) => error);
    if (stream instanceof Duplex) return done?.(null, stream);
    // The type asks for a stream beside the error; Node looks at the error first.
    done?.(stream instanceof Error ? stream : new NoTunnel(), new PassThrough());
  }

  override keepSocketAlive(stream: Duplex): boolean {
    const over = new AbortController();
    const end = () => over.abort();
    this.#idle.set(stream, over);
    stream.once("close", end);
    over.signal.addEventListener("abort", () => stream.off("close", end), { once: true });
    void this.#clock.sleep(IDLE_MS, over.signal).then(() => over.signal.aborted || stream.destroy());
    return true;
  }

  override reuseSocket(stream: Duplex, request: ClientRequest): void {
    this.#idle.get(stream)?.abort();
    super.reuseSocket(stream, request);
  }
}

/** The host of an instance did not open a tunnel, or nothing listens at the port. */
export class NoTunnel extends Error {
  override readonly name = "NoTunnel";
}

/** The bytes of a tunnel as a stream. An empty message is the end of the host's direction. */
export function streamOf(tunnel: WebSocket, onSent: (bytes: number) => void): Duplex {
  // Node's agent holds the process open by the sockets in use; a tunnel does so in any case.
  const stream = Object.assign(createWebSocketStream(tunnel), { ref() {}, unref() {} });
  tunnel.on("message", (data) => {
    if (!(data instanceof Buffer)) return;
    if (data.length === 0) stream.push(null);
    else onSent(data.length);
  });
  return stream;
}
