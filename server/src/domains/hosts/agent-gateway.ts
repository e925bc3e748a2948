import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import {
  decodeAgentMessage,
  PROTOCOL_VERSION,
  type Hello,
  type OpenTunnel,
  type TransferSide,
} from "../../../../protocol/index.ts";
import { AppError } from "../../base/errors.ts";
import type { Clock } from "../../base/clock.ts";
import type { AgentCredentialId, MachineId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import {
  AgentSession,
  refuse,
  textOf,
  type Inventory,
  type SessionPorts,
  type UnstoredCounters,
} from "./agent-session.ts";
import { revoked, type Admission } from "./admission.ts";
import { deleted, HEARTBEAT_MS, heartbeatMs, type Registration } from "./service.ts";
import { refuseImpossibleGpus } from "./registration.ts";
import type { Credential, Departure } from "./store.ts";
import { Transfers } from "./transfers.ts";
import { ExpectedTunnels } from "./tunnels.ts";

const MESSAGE_BYTES_MAX = 4_194_304;
/** Heartbeats after whose silence a connection counts as dead, although nobody closed it. */
const SILENT_HEARTBEATS_MAX = 3;
const SOCKET_OPTIONS = {
  noServer: true,
  maxPayload: MESSAGE_BYTES_MAX,
  // How long the other end may take to close its half before the socket is destroyed.
  closeTimeout: 2_000,
} as const;

const TUNNEL_PATH = /^\/agent\/tunnel\/([A-Za-z0-9_-]{1,64})$/;
const TRANSFER_PATH = /^\/agent\/transfer\/([A-Za-z0-9_-]{1,64})\/(send|receive)$/;
/** After so long without a sign of life the system asks the other end of a tunnel whether it is still there. */
const KEEP_ALIVE_MS = 30_000;

/** Who is at the other end of a session, and from where it came. */
type Origin = { readonly credentialId: AgentCredentialId; readonly name: string; readonly address: string };

/** What a machine counted when it was last heard of, as far as that is not stored. */
export type LastWord = { readonly machineId: MachineId; readonly unstored: UnstoredCounters | undefined };

/** What the gateway needs of the rest of the server; it holds connections and knows nothing of rentals. */
export type AgentPorts = Omit<SessionPorts, "heartbeatMs"> & {
  readonly authenticate: (token: string) => Promise<(Credential & { readonly isRevoked: boolean }) | undefined>;
  /** Lets a machine in, or throws what it is refused for. */
  readonly register: (credential: Credential, hello: Hello) => Promise<Admission>;
  /** Notes that a second one came while the machine itself is connected; what to refuse it with. */
  readonly noticeClone: (machineId: MachineId) => Promise<AppError>;
  /** Which of these credentials open nothing any more. */
  readonly listRevoked: (ids: readonly AgentCredentialId[]) => Promise<readonly AgentCredentialId[]>;
  readonly disconnected: (departure: Departure & LastWord) => Promise<void>;
  /** Stores what waits to be stored with the next report, since there will be none. */
  readonly storeCounters: (last: LastWord) => Promise<void>;
  /** The machine that is to do this half of a copy between hosts; undefined when none is, any more. */
  readonly findTransferHost: (transferId: string, side: TransferSide) => Promise<MachineId | undefined>;
};

/** The server's end of the agents' WebSockets: full desired sets down, full observed sets up. */
export class AgentGateway {
  private readonly sessions = new Map<MachineId, AgentSession>();
  /** Connections that have not said hello yet, with the time since when. */
  private readonly strangers = new Map<WebSocket, number>();
  private readonly origins = new WeakMap<AgentSession, Origin>();
  /** Sessions by the credential and the name that their agents came with. */
  private readonly named = new Map<string, AgentSession>();
  private readonly tunnels: ExpectedTunnels;
  private readonly transfers: Transfers;
  private readonly sockets = new WebSocketServer(SOCKET_OPTIONS);
  private readonly ports: AgentPorts & SessionPorts;
  private readonly clock: Clock;
  private readonly log: Log;
  private stopSweeping: (() => void) | undefined;
  private isClosing = false;

  constructor(ports: AgentPorts, { clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.ports = { ...ports, heartbeatMs: (leaseMs) => heartbeatMs(this.sessions.size, leaseMs) };
    this.clock = clock;
    this.log = log;
    this.tunnels = new ExpectedTunnels(clock);
    this.transfers = new Transfers(clock);
  }

  /** Serves `/agent` on an HTTP server that is about to listen. */
  attach(server: Server): void {
    server.on("upgrade", (request, socket, head) => void this.upgrade(request, socket, head));
    this.stopSweeping = this.clock.every(HEARTBEAT_MS, () => this.sweep());
  }

  get connectedCount(): number {
    return this.sessions.size;
  }

  /** What the machines that are connected here have, as they said last. */
  inventories(): ReadonlyMap<MachineId, Inventory> {
    const said = [...this.sessions.values()].flatMap(({ machineId, inventory }) =>
      inventory === undefined ? [] : [[machineId, inventory] as const],
    );
    return new Map(said);
  }

  /** Sends these machines their desired set anew, if they are connected here. */
  push(machineIds: readonly MachineId[]): void {
    for (const id of machineIds) this.sessions.get(id)?.push();
  }

  /**
   * A byte stream into an instance, from its machine's agent: a WebSocket of binary messages, an empty one for the end of
   * a direction. Undefined when the machine is not connected here, or does not come with it.
   */
  async openTunnel(
    machineId: MachineId,
    target: Pick<OpenTunnel, "instance_id" | "service">,
  ): Promise<WebSocket | undefined> {
    const session = this.sessions.get(machineId);
    const origin = session && this.origins.get(session);
    if (session === undefined || origin === undefined || this.isClosing) return undefined;
    return this.tunnels.ask(origin.credentialId, target, (message) => session.send(message));
  }

  /** The address that a machine's agent is connected from; undefined when it is not connected here. */
  addressOf(machineId: MachineId): string | undefined {
    const session = this.sessions.get(machineId);
    return session && this.origins.get(session)?.address;
  }

  pushAll(): void {
    for (const session of this.sessions.values()) session.push();
  }

  /** Ends the connections of a credential that opens nothing any more. */
  revoke(id: AgentCredentialId): void {
    const { code, publicMessage } = revoked();
    for (const session of this.sessions.values()) {
      if (this.origins.get(session)?.credentialId === id) session.refuse(code, publicMessage);
    }
  }

  /** The same for whatever was revoked while nobody could be told. */
  async revokeMissed(): Promise<void> {
    const held = [...this.sessions.values()].flatMap((session) => this.origins.get(session)?.credentialId ?? []);
    try {
      for (const id of await this.ports.listRevoked([...new Set(held)])) this.revoke(id);
    } catch (error) {
      // The listener that reported the gap reports the next one too; until then each new connection is looked at.
      this.log.error({ err: error }, "could not look for revoked credentials");
    }
  }

  /** Ends the connection of a machine that its host deleted. */
  dismiss(machineId: MachineId): void {
    const { code, publicMessage } = deleted();
    this.sessions.get(machineId)?.refuse(code, publicMessage);
  }

  /** Sends a machine what it is asked once, if it is connected here. */
  pushTasks(machineId: MachineId): void {
    this.sessions.get(machineId)?.pushTasks();
  }

  pushAllTasks(): void {
    for (const session of this.sessions.values()) session.pushTasks();
  }

  /** Ends all connections when what they reported is stored. The next start counts every machine as away. */
  async close(): Promise<void> {
    this.isClosing = true;
    this.stopSweeping?.();
    this.tunnels.close();
    this.transfers.close();
    for (const socket of this.strangers.keys()) socket.terminate();
    const ending = [...this.sessions.values()].map((session) => this.end(session));
    this.sockets.close();
    await Promise.all(ending);
  }

  private async end(session: AgentSession): Promise<void> {
    const { machineId } = session;
    await session.end(1001, "the server is stopping");
    const unstored = await session.stored();
    if (unstored === undefined) return;
    try {
      await this.ports.storeCounters({ machineId, unstored });
    } catch (error) {
      this.log.error({ err: error, machine_id: machineId }, "the last counters of a machine could not be stored");
    }
  }

  private async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on("error", (error) => this.log.debug({ err: error }, "an agent's socket broke during the handshake"));
    const path = (request.url ?? "").split("?")[0]?.replace(/\/$/, "");
    const token = /^bearer\s+(\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
    const tunnelId = TUNNEL_PATH.exec(path ?? "")?.[1];
    const [, transferId, side] = TRANSFER_PATH.exec(path ?? "") ?? [];
    const isStream = tunnelId !== undefined || transferId !== undefined;
    if (path !== "/agent" && !isStream) return refuseUpgrade(socket, "404 Not Found");
    try {
      const credential = token === undefined ? undefined : await this.ports.authenticate(token);
      if (credential === undefined) return refuseUpgrade(socket, "401 Unauthorized");
      if (this.isClosing) return refuseUpgrade(socket, "503 Service Unavailable");
      if (credential.isRevoked && isStream) return refuseUpgrade(socket, "401 Unauthorized");
      if (tunnelId !== undefined) return this.receiveTunnel(request, socket, head, { tunnelId, credential });
      if (transferId !== undefined) {
        const half = { transferId, side: side === "send" ? "send" : "receive", credential } as const;
        return await this.receiveTransfer(request, socket, head, half);
      }
      const address = request.socket.remoteAddress ?? "";
      this.sockets.handleUpgrade(request, socket, head, (webSocket) => this.greet(webSocket, credential, address));
    } catch (error) {
      this.log.error({ err: error }, "an agent could not be let in");
      refuseUpgrade(socket, "503 Service Unavailable");
    }
  }

  private receiveTunnel(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    { tunnelId, credential }: { readonly tunnelId: string; readonly credential: Credential },
  ): void {
    if (!this.tunnels.isExpected(tunnelId, credential.id)) return refuseUpgrade(socket, "404 Not Found");
    request.socket.setKeepAlive(true, KEEP_ALIVE_MS);
    request.socket.setNoDelay(true);
    this.sockets.handleUpgrade(request, socket, head, (webSocket) => {
      webSocket.on("error", (error) => this.log.debug({ err: error }, "a tunnel broke"));
      // Until whoever waits for it listens.
      webSocket.pause();
      this.tunnels.arrive(tunnelId, webSocket);
    });
  }

  /** Lets in the two machines of a transfer, each for its own half; whoever else comes learns nothing. */
  private async receiveTransfer(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    half: { readonly transferId: string; readonly side: TransferSide; readonly credential: Credential },
  ): Promise<void> {
    const { transferId, side, credential } = half;
    const machineId = await this.ports.findTransferHost(transferId, side);
    const session = machineId === undefined ? undefined : this.sessions.get(machineId);
    const owner = session && this.origins.get(session)?.credentialId;
    const isOther = owner !== undefined && owner !== credential.id;
    if (machineId === undefined || isOther) return refuseUpgrade(socket, "404 Not Found");
    // A machine that is not connected at the moment comes again, as it does when there are too many.
    const isBusy = this.isClosing || !this.transfers.hasRoomFor(transferId);
    if (owner === undefined || isBusy) return refuseUpgrade(socket, "503 Service Unavailable");
    request.socket.setKeepAlive(true, KEEP_ALIVE_MS);
    request.socket.setNoDelay(true);
    this.sockets.handleUpgrade(request, socket, head, (webSocket) => {
      webSocket.on("error", (error) => this.log.debug({ err: error }, "a transfer broke"));
      this.transfers.arrive(transferId, side, webSocket);
    });
  }

  /** Waits for the hello that names the machine, as long as for any other sign of life. */
  private greet(socket: WebSocket, credential: Credential, address: string): void {
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
      void this.open(socket, credential, { hello, address });
    });
  }

  private async open(
    socket: WebSocket,
    credential: Credential,
    { hello, address }: { readonly hello: Hello; readonly address: string },
  ): Promise<void> {
    try {
      // Reports may follow at once; they wait until the machine is known.
      socket.pause();
      refuseImpossibleGpus(hello);
      await this.refuseWhileConnected(credential, hello);
      const admission = await this.ports.register(credential, hello);
      const { machineId } = admission;
      const earlier = this.sessions.get(machineId);
      const session = new AgentSession(socket, machineId, this.ports, { clock: this.clock, log: this.log });
      this.sessions.set(machineId, session);
      const name = nameOf(credential, hello);
      this.origins.set(session, { credentialId: credential.id, name, address });
      this.named.set(name, session);
      socket.once("close", () => this.leave(admission, session));
      await earlier?.end(4000, "the same machine connected again");
      // It may have gone before anybody listened for that.
      if (socket.readyState !== socket.OPEN) return this.leave(admission, session);
      session.start(admission);
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

  /**
   * Of two agents with one credential that was made by joining, the one that is connected and answers stays. An agent
   * that connects anew because its old connection is dead takes its place.
   */
  private async refuseWhileConnected(credential: Credential, hello: Hello): Promise<void> {
    if (credential.joiner === undefined) return;
    const session = this.named.get(nameOf(credential, hello));
    if (session !== undefined && (await session.answers())) throw await this.ports.noticeClone(session.machineId);
  }

  private leave(registration: Registration, session: AgentSession): void {
    const { machineId } = registration;
    const name = this.origins.get(session)?.name ?? "";
    if (this.named.get(name) === session) this.named.delete(name);
    if (this.isClosing || this.sessions.get(machineId) !== session) return;
    this.sessions.delete(machineId);
    const heardAt = new Date(this.clock.now().getTime() - (this.clock.monotonicMs() - session.lastWordMs));
    // What is being stored comes before the end: it may be the last word.
    session
      .stored()
      .then((unstored) => this.ports.disconnected({ ...registration, heardAt, unstored }))
      .catch((error: unknown) => this.log.error({ err: error, machine_id: machineId }, "could not note a leave"));
  }

  private sweep(): void {
    const nowMs = this.clock.monotonicMs();
    for (const session of this.sessions.values()) {
      if (nowMs - session.lastHeardMs > SILENT_HEARTBEATS_MAX * session.heartbeatMs) session.terminate();
    }
    const strangeMs = SILENT_HEARTBEATS_MAX * HEARTBEAT_MS;
    for (const [socket, sinceMs] of this.strangers) if (nowMs - sinceMs > strangeMs) socket.terminate();
  }
}

function nameOf({ id }: Credential, { host_key: hostKey }: Hello): string {
  return `${id} ${hostKey}`;
}

function refuseUpgrade(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
