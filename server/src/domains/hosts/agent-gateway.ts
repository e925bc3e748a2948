import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import { decodeAgentMessage, PROTOCOL_VERSION, type Hello } from "../../../../protocol/index.ts";
import { AppError } from "../../base/errors.ts";
import type { Clock } from "../../base/clock.ts";
import type { MachineId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { AgentSession, refuse, textOf, type SessionPorts } from "./agent-session.ts";
import { HEARTBEAT_MS, type Registration } from "./service.ts";
import type { Credential } from "./store.ts";

const MESSAGE_BYTES_MAX = 4_194_304;
/** Silence after which a connection counts as dead, although nobody closed it. */
const SILENCE_MS_MAX = 3 * HEARTBEAT_MS;
const SOCKET_OPTIONS = {
  noServer: true,
  maxPayload: MESSAGE_BYTES_MAX,
  // How long the other end may take to close its half before the socket is destroyed.
  closeTimeout: 2_000,
} as const;

/** What the gateway needs of the rest of the server; it holds connections and knows nothing of rentals. */
export type AgentPorts = SessionPorts & {
  readonly authenticate: (token: string) => Promise<Credential | undefined>;
  readonly register: (credential: Credential, hello: Hello) => Promise<Registration>;
  readonly disconnected: (registration: Registration) => Promise<void>;
};

/** The server's end of the agents' WebSockets: full desired sets down, full observed sets up. */
export class AgentGateway {
  private readonly sessions = new Map<MachineId, AgentSession>();
  /** Connections that have not said hello yet, with the time since when. */
  private readonly strangers = new Map<WebSocket, number>();
  private readonly sockets = new WebSocketServer(SOCKET_OPTIONS);
  private readonly ports: AgentPorts;
  private readonly clock: Clock;
  private readonly log: Log;
  private stopSweeping: (() => void) | undefined;
  private isClosing = false;

  constructor(ports: AgentPorts, { clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.ports = ports;
    this.clock = clock;
    this.log = log;
  }

  /** Serves `/agent` on an HTTP server that is about to listen. */
  attach(server: Server): void {
    server.on("upgrade", (request, socket, head) => void this.upgrade(request, socket, head));
    this.stopSweeping = this.clock.every(HEARTBEAT_MS, () => this.sweep());
  }

  get connectedCount(): number {
    return this.sessions.size;
  }

  /** Sends these machines their desired set anew, if they are connected here. */
  push(machineIds: readonly MachineId[]): void {
    for (const id of machineIds) this.sessions.get(id)?.push();
  }

  pushAll(): void {
    for (const session of this.sessions.values()) session.push();
  }

  /** Ends all connections when what they reported is stored. The next start counts every machine as away. */
  async close(): Promise<void> {
    this.isClosing = true;
    this.stopSweeping?.();
    for (const socket of this.strangers.keys()) socket.terminate();
    const ending = [...this.sessions.values()].map((session) => session.end(1001, "the server is stopping"));
    this.sockets.close();
    await Promise.all(ending);
  }

  private async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on("error", (error) => this.log.debug({ err: error }, "an agent's socket broke during the handshake"));
    const path = (request.url ?? "").split("?")[0]?.replace(/\/$/, "");
    const token = /^bearer\s+(\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
    if (path !== "/agent") return refuseUpgrade(socket, "404 Not Found");
    try {
      const credential = token === undefined ? undefined : await this.ports.authenticate(token);
      if (credential === undefined) return refuseUpgrade(socket, "401 Unauthorized");
      if (this.isClosing) return refuseUpgrade(socket, "503 Service Unavailable");
      this.sockets.handleUpgrade(request, socket, head, (webSocket) => this.greet(webSocket, credential));
    } catch (error) {
      this.log.error({ err: error }, "an agent could not be let in");
      refuseUpgrade(socket, "503 Service Unavailable");
    }
  }

  /** Waits for the hello that names the machine, as long as for any other sign of life. */
  private greet(socket: WebSocket, credential: Credential): void {
    this.strangers.set(socket, this.clock.monotonicMs());
    socket.on("error", (error) => this.log.debug({ err: error }, "an agent's connection broke"));
    socket.once("close", () => this.strangers.delete(socket));
    socket.once("message", (data) => {
      this.strangers.delete(socket);
      const decoded = decodeAgentMessage(textOf(data));
      if (!decoded.ok) return refuse(socket, "malformed", decoded.problem);
      const hello = decoded.message;
      if (hello.kind !== "hello") return refuse(socket, "malformed", "the first message must be a hello");
      if (hello.protocol_version !== PROTOCOL_VERSION) {
        return refuse(socket, "protocol_version", `this server speaks protocol ${PROTOCOL_VERSION}`);
      }
      void this.open(socket, credential, hello);
    });
  }

  private async open(socket: WebSocket, credential: Credential, hello: Hello): Promise<void> {
    try {
      // Reports may follow at once; they wait until the machine is known.
      socket.pause();
      const registration = await this.ports.register(credential, hello);
      const { machineId } = registration;
      const earlier = this.sessions.get(machineId);
      const session = new AgentSession(socket, machineId, this.ports, { clock: this.clock, log: this.log });
      this.sessions.set(machineId, session);
      socket.once("close", () => this.leave(registration, session));
      await earlier?.end(4000, "the same machine connected again");
      // It may have gone before anybody listened for that.
      if (socket.readyState !== socket.OPEN) return this.leave(registration, session);
      session.start();
    } catch (error) {
      if (error instanceof AppError) refuse(socket, error.code, error.publicMessage);
      else {
        this.log.error({ err: error, host_key: hello.host_key }, "a machine could not be registered");
        refuse(socket, "unavailable", "the server could not register this machine");
      }
    } finally {
      socket.resume();
    }
  }

  private leave(registration: Registration, session: AgentSession): void {
    const { machineId } = registration;
    if (this.isClosing || this.sessions.get(machineId) !== session) return;
    this.sessions.delete(machineId);
    this.ports
      .disconnected(registration)
      .catch((error: unknown) => this.log.error({ err: error, machine_id: machineId }, "could not note a leave"));
  }

  private sweep(): void {
    const nowMs = this.clock.monotonicMs();
    for (const session of this.sessions.values()) {
      if (nowMs - session.lastHeardMs > SILENCE_MS_MAX) session.terminate();
    }
    for (const [socket, sinceMs] of this.strangers) if (nowMs - sinceMs > SILENCE_MS_MAX) socket.terminate();
  }
}

function refuseUpgrade(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
