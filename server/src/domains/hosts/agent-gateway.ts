import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import {
  decodeAgentMessage,
  PROTOCOL_VERSION,
  type DesiredInstance,
  type Hello,
  type Report,
  type ServerMessage,
} from "../../../../protocol/index.ts";
import { AppError } from "../../base/errors.ts";
import type { Clock } from "../../base/clock.ts";
import type { MachineId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { HEARTBEAT_MS, LEASE_MS } from "./service.ts";
import type { Credential } from "./store.ts";

const MESSAGE_BYTES_MAX = 4_194_304;
/** Silence after which a connection counts as dead, although nobody closed it. */
const SILENCE_MS_MAX = 3 * HEARTBEAT_MS;

/** What the gateway needs of the rest of the server; it holds connections and knows nothing of rentals. */
export type AgentPorts = {
  readonly authenticate: (token: string) => Promise<Credential | undefined>;
  readonly register: (credential: Credential, hello: Hello) => Promise<MachineId>;
  /** Everything the machine should have, read anew. */
  readonly loadDesired: (machineId: MachineId) => Promise<readonly DesiredInstance[]>;
  /** Resolves when what the report says is stored. */
  readonly record: (machineId: MachineId, report: Report) => Promise<void>;
  readonly disconnected: (machineId: MachineId) => Promise<void>;
};

/** The server's end of the agents' WebSockets: full desired sets down, full observed sets up. */
export class AgentGateway {
  private readonly sessions = new Map<MachineId, AgentSession>();
  private readonly sockets = new WebSocketServer({ noServer: true, maxPayload: MESSAGE_BYTES_MAX });
  private readonly ports: AgentPorts;
  private readonly clock: Clock;
  private readonly log: Log;
  private stopSweeping: (() => void) | undefined;

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

  async close(): Promise<void> {
    this.stopSweeping?.();
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
      this.sockets.handleUpgrade(request, socket, head, (webSocket) => this.greet(webSocket, credential));
    } catch (error) {
      this.log.error({ err: error }, "an agent could not be let in");
      refuseUpgrade(socket, "503 Service Unavailable");
    }
  }

  /** Waits for the hello that names the machine. */
  private greet(socket: WebSocket, credential: Credential): void {
    socket.on("error", (error) => this.log.debug({ err: error }, "an agent's connection broke"));
    socket.once("message", (data) => {
      const decoded = decodeAgentMessage(String(data));
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
      const machineId = await this.ports.register(credential, hello);
      const earlier = this.sessions.get(machineId);
      const session = new AgentSession(socket, machineId, this.ports, { clock: this.clock, log: this.log });
      this.sessions.set(machineId, session);
      await earlier?.end(4000, "the same machine connected again");
      socket.once("close", () => {
        if (this.sessions.get(machineId) !== session) return;
        this.sessions.delete(machineId);
        this.ports
          .disconnected(machineId)
          .catch((error: unknown) => this.log.error({ err: error, machine_id: machineId }, "could not note a leave"));
      });
      session.start();
      socket.resume();
    } catch (error) {
      if (error instanceof AppError) refuse(socket, error.code, error.publicMessage);
      else {
        this.log.error({ err: error, host_key: hello.host_key }, "a machine could not be registered");
        refuse(socket, "unavailable", "the server could not register this machine");
      }
      socket.resume();
    }
  }

  private sweep(): void {
    const nowMs = this.clock.monotonicMs();
    for (const session of this.sessions.values()) {
      if (nowMs - session.lastHeardMs > SILENCE_MS_MAX) session.terminate();
    }
  }
}

class AgentSession {
  lastHeardMs: number;
  private readonly socket: WebSocket;
  private readonly machineId: MachineId;
  private readonly ports: AgentPorts;
  private readonly clock: Clock;
  private readonly log: Log;
  private version = 0;
  private isPushing = false;
  private isPushDue = false;
  private recording: Promise<void> = Promise.resolve();

  constructor(
    socket: WebSocket,
    machineId: MachineId,
    ports: AgentPorts,
    { clock, log }: { readonly clock: Clock; readonly log: Log },
  ) {
    this.socket = socket;
    this.machineId = machineId;
    this.ports = ports;
    this.clock = clock;
    this.log = log;
    this.lastHeardMs = clock.monotonicMs();
  }

  start(): void {
    this.socket.on("message", (data) => this.receive(String(data)));
    this.send({ kind: "welcome", machine_id: this.machineId, heartbeat_ms: HEARTBEAT_MS, lease_ms: LEASE_MS });
    this.push();
  }

  /** Sends the desired set soon; several calls while one is being read become one more. */
  push(): void {
    this.isPushDue = true;
    if (!this.isPushing) void this.pushWhileDue();
  }

  /** Closes and waits until what was received is stored. */
  async end(code: number, reason: string): Promise<void> {
    this.socket.close(code, reason);
    await this.recording;
  }

  terminate(): void {
    this.socket.terminate();
  }

  private async pushWhileDue(): Promise<void> {
    this.isPushing = true;
    try {
      while (this.isPushDue) {
        this.isPushDue = false;
        const instances = await this.ports.loadDesired(this.machineId);
        this.version += 1;
        this.send({ kind: "desired", version: this.version, instances: [...instances] });
      }
    } catch (error) {
      // The agent connects again and asks for everything: closing is the one repair that always works.
      this.log.error({ err: error, machine_id: this.machineId }, "the desired set could not be read");
      this.socket.close(1011, "the desired set could not be read");
    } finally {
      this.isPushing = false;
    }
  }

  private receive(text: string): void {
    this.lastHeardMs = this.clock.monotonicMs();
    const decoded = decodeAgentMessage(text);
    if (!decoded.ok || decoded.message.kind !== "report") {
      refuse(this.socket, "malformed", decoded.ok ? "only reports follow a hello" : decoded.problem);
      return;
    }
    const report = decoded.message;
    // One after the other, so that an older report never overwrites a newer one.
    this.recording = this.recording.then(async () => {
      try {
        await this.ports.record(this.machineId, report);
        this.send({ kind: "acknowledge", sequence: report.sequence });
      } catch (error) {
        this.log.error({ err: error, machine_id: this.machineId }, "a report could not be stored");
        this.socket.close(1011, "the report could not be stored");
      }
    });
  }

  private send(message: ServerMessage): void {
    if (this.socket.readyState === this.socket.OPEN) this.socket.send(JSON.stringify(message));
  }
}

function refuse(socket: WebSocket, code: string, message: string): void {
  const refusal: ServerMessage = { kind: "refuse", code, message };
  if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(refusal));
  socket.close(4400, code);
}

function refuseUpgrade(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
