import { createServer, type Server as ListeningServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import ssh2, { type Connection } from "ssh2";
import { backOffDelay } from "../base/back-off.ts";
import { COPY_USER } from "../../../protocol/index.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { parseAuthorizedKeys, type AuthorizedKey } from "./authorized-keys.ts";
import { serveConnection, type ConnectionPlace, type Ends, type SshConnection } from "./connection.ts";
import type { DockerExec } from "./docker-exec.ts";
import { SESSION_ARGV_START } from "./login-script.ts";
import { hangUp } from "./hang-up.ts";
import type { DoorOrder } from "./messages.ts";
import { openNamespace, type Namespace } from "./namespace.ts";
import { injectSocket, socketOf } from "./transport.ts";

export type DoorsPlace = {
  readonly docker: DockerExec;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: () => number;
  readonly bindAddress: string;
};

const ROOT = "root";
const LOGIN_GRACE_MS = 30_000;
const MAX_CONNECTIONS = 256;
const MAX_LOGGING_IN = 96;
const MAX_LOGGING_IN_PER_SOURCE = 32;
const MAX_WAITING_BYTES = 256 * 1024 * 1024;
const WATCH_MS = 1_000;
const KEEPALIVE_MS = 15_000;
const KEEPALIVE_MISSES = 3;
const SOCKET_BUFFER_BYTES = 256 * 1024;
const LISTEN_AGAIN = { firstMs: 100, limitMs: 10_000 };
const INSIDE_PORT = 22;
/** The source of connections through the control plane, which limits its own clients. */
const TUNNEL = "tunnel";

const ALGORITHMS = {
  kex: ["curve25519-sha256", "curve25519-sha256@libssh.org"],
  serverHostKey: ["ssh-ed25519"],
  // The first cipher is by far the fastest here.
  cipher: [
    ...(["aes128-gcm@openssh.com", "aes256-gcm@openssh.com"] as const),
    ...(["chacha20-poly1305@openssh.com", "aes256-ctr", "aes128-ctr"] as const),
  ],
  hmac: ["hmac-sha2-256-etm@openssh.com", "hmac-sha2-512-etm@openssh.com", "hmac-sha2-256", "hmac-sha2-512"],
  compress: ["none"],
} satisfies ssh2.Algorithms;

/** The way into one container: its own server with its own host key, on a port of this host or through tunnels only. */
export class Door {
  readonly #place: DoorsPlace;
  readonly #server: ssh2.Server;
  readonly #namespace: Namespace;
  readonly #connections = new Set<SshConnection>();
  /** Connections that have not logged in, with their source. */
  readonly #loggingIn = new Map<Duplex, string>();
  readonly #ends = new WeakMap<Duplex, Ends>();
  /** Keys that log in on one stream alone. */
  readonly #sessionKeys = new WeakMap<Duplex, readonly AuthorizedKey[]>();
  readonly #stopWatching: () => void;
  #listener: ListeningServer | undefined;
  #listening = new AbortController();
  #order: DoorOrder;
  #keys: readonly AuthorizedKey[];
  #isClosed = false;

  constructor(place: DoorsPlace, order: DoorOrder) {
    this.#place = place;
    this.#order = order;
    this.#keys = parseAuthorizedKeys(order.authorizedKeys);
    this.#namespace = openNamespace(order.namespacePath, place.clock);
    this.#server = new ssh2.Server({
      hostKeys: [order.hostKey],
      ident: "berth",
      algorithms: ALGORITHMS,
      keepaliveInterval: KEEPALIVE_MS,
      keepaliveCountMax: KEEPALIVE_MISSES,
    });
    this.#server.on("connection", (client) => this.#serve(client));
    this.#stopWatching = place.clock.every(WATCH_MS, () => this.#watch());
    this.#listen();
    void this.#hangUpStrays();
  }

  /** True when the order is for this run of the container; otherwise a new door is needed. */
  isFor(order: DoorOrder): boolean {
    const { containerId, namespacePath, hostKey, isForCopies } = this.#order;
    const isSameRun = containerId === order.containerId && namespacePath === order.namespacePath;
    return isSameRun && hostKey === order.hostKey && isForCopies === order.isForCopies;
  }

  update(order: DoorOrder): void {
    const before = this.#order;
    this.#order = order;
    if (before.port !== order.port) this.#listen();
    if (before.authorizedKeys.join("\n") === order.authorizedKeys.join("\n")) return;
    this.#keys = parseAuthorizedKeys(order.authorizedKeys);
    for (const connection of this.#connections) {
      if (!connection.isStillAllowed()) connection.dismiss("the key of this login was removed");
    }
  }

  /** Takes a stream as if a client had connected; false when there is no room. */
  admit(socket: Duplex, source: string, ends: Ends): boolean {
    const fromSource = [...this.#loggingIn.values()].filter((one) => one === source).length;
    const isFull =
      this.#loggingIn.size >= MAX_LOGGING_IN ||
      (source !== TUNNEL && fromSource >= MAX_LOGGING_IN_PER_SOURCE) ||
      this.#connections.size + this.#loggingIn.size >= MAX_CONNECTIONS;
    if (this.#isClosed || isFull) {
      socket.destroy();
      return false;
    }
    const { clock } = this.#place;
    const done = new AbortController();
    this.#loggingIn.set(socket, source);
    this.#ends.set(socket, ends);
    socket.on("error", () => undefined);
    socket.once("close", () => {
      done.abort();
      this.#loggingIn.delete(socket);
    });
    void clock.sleep(LOGIN_GRACE_MS, done.signal).then(() => {
      if (this.#loggingIn.has(socket)) socket.destroy();
    });
    injectSocket(this.#server, socket);
    return true;
  }

  /** Takes a stream that came through the control plane, on which a session key logs in; false when there is no room. */
  admitTunnel(stream: Duplex, sessionKey: string | undefined): boolean {
    if (sessionKey !== undefined) this.#sessionKeys.set(stream, parseAuthorizedKeys([sessionKey]));
    const ends = { address: "127.0.0.1", port: 0, ownAddress: "127.0.0.1", ownPort: INSIDE_PORT };
    return this.admit(stream, TUNNEL, ends);
  }

  close(reason: string): void {
    this.#isClosed = true;
    this.#stopWatching();
    this.#listening.abort();
    this.#listener?.close();
    for (const connection of this.#connections) connection.dismiss(reason);
    for (const socket of this.#loggingIn.keys()) socket.destroy();
    this.#namespace.close();
  }

  #serve(client: Connection): void {
    // Without a listener an error of one client would end the process, and with it the sessions of all others.
    client.on("error", () => undefined);
    const socket = socketOf(client);
    const ends = this.#ends.get(socket);
    // The time for its login may have ended just now.
    if (ends === undefined || !this.#loggingIn.has(socket)) return void client.end();
    const { instanceId, containerId, isForCopies } = this.#order;
    const place: ConnectionPlace = {
      ...this.#place,
      instanceId,
      containerId,
      users: isForCopies ? [COPY_USER] : [ROOT, COPY_USER],
      sessionUser: ROOT,
      sessionKeys: this.#sessionKeys.get(socket) ?? [],
      namespace: this.#namespace,
      keys: () => this.#keys,
    };
    const connection = serveConnection(place, client, socket, ends, {
      onReady: () => {
        this.#loggingIn.delete(socket);
        this.#connections.add(connection);
      },
      onClose: () => this.#connections.delete(connection),
    });
  }

  /**
   * Ends the connection with the most waiting bytes: many clients within their limits may still be too much together.
   */
  #watch(): void {
    const sizes = [...this.#connections].map((connection) => ({ connection, bytes: connection.waitingBytes() }));
    let total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { connection, bytes } of sizes.toSorted((a, b) => b.bytes - a.bytes)) {
      if (total <= MAX_WAITING_BYTES) return;
      connection.dismiss("too much data waits to be read");
      total -= bytes;
    }
  }

  #listen(): void {
    this.#listening.abort();
    this.#listener?.close();
    this.#listener = undefined;
    const { port } = this.#order;
    if (port === null || this.#isClosed) return;
    this.#listening = new AbortController();
    void this.#keepListening(port, this.#listening.signal);
  }

  /** The port may be somebody else's for a while, such as the previous container's. */
  async #keepListening(port: number, over: AbortSignal): Promise<void> {
    const { bindAddress, clock, log, random } = this.#place;
    const { instanceId } = this.#order;
    for (let attempt = 0; !over.aborted; attempt += 1) {
      const problem = await this.#tryListening(port, over);
      if (problem === undefined) {
        if (attempt > 0) log.info({ instance_id: instanceId, port }, "the SSH port is open after all");
        return;
      }
      // A first failure is usual after a restart.
      if (attempt === 1)
        log.warn(
          { instance_id: instanceId, bind_address: bindAddress, port, problem },
          "the SSH port cannot be opened; trying again",
        );
      await clock.sleep(backOffDelay(LISTEN_AGAIN, attempt, random()), over);
    }
  }

  #tryListening(port: number, over: AbortSignal): Promise<string | undefined> {
    return new Promise((resolve) => {
      const options = { noDelay: true, highWaterMark: SOCKET_BUFFER_BYTES };
      const listener = createServer(options, (socket) => this.#accept(socket));
      listener.once("error", (cause) => resolve(cause.message));
      listener.listen({ port, host: this.#place.bindAddress }, () => {
        if (over.aborted) listener.close();
        else this.#listener = listener;
        resolve(undefined);
      });
    });
  }

  #accept(socket: Socket): void {
    const { remoteAddress: address = "", remotePort: port = 0, localAddress = "", localPort = 0 } = socket;
    this.admit(socket, address, { address, port, ownAddress: localAddress, ownPort: localPort });
  }

  /** Hangs up programs of sessions whose process was killed before it could do so. */
  async #hangUpStrays(): Promise<void> {
    const { docker } = this.#place;
    const { containerId, instanceId } = this.#order;
    const strays = await docker.listRunning(containerId, SESSION_ARGV_START).catch(() => []);
    for (const execId of strays) {
      this.#place.log.info({ instance_id: instanceId }, "ended a session that an earlier process left");
      await hangUp({ ...this.#place, containerId, execId }).catch(() => undefined);
    }
  }
}
