import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import {
  CHALLENGE_HEADER,
  decodeAgentMessage,
  PROOF_HEADER,
  PROTOCOL_VERSION,
  type Hello,
  type OpenTunnel,
  type ServerList,
} from "../../../../../../protocol/index.ts";
import { AppError } from "../../../../base/errors.ts";
import type { Clock } from "../../../../base/clock.ts";
import type { AgentCredentialId, MachineId } from "../../../../base/ids.ts";
import type { Log } from "../../../../base/log.ts";
import { AgentSession, refuse, textOf, type SessionPorts } from "./agent-session.ts";
import { revoked, type Admission } from "./admission.ts";
import { nameOf, type Admitted, type ReleasePort } from "./agent-passes.ts";
import type { TunnelTarget } from "../tunnels/expected-tunnels.ts";
import { AgentStreams, isStreamPath, refuseUpgrade, type Knock, type StreamPorts } from "../tunnels/agent-streams.ts";
import type { AddressChallenge } from "../addresses/address-proof-service.ts";
import type { Connection } from "./connection-store.ts";
import { answerUnknownTasks } from "./unknown-tasks.ts";
import type { Inventory, UnstoredCounters } from "./session-news.ts";
import { deleted, HEARTBEAT_MS, intervalsFor, type Registration } from "../service.ts";
import { refuseImpossibleGpus } from "../join/registration.ts";
import type { Arrival } from "../join/registration-store.ts";
import type { Credential, Departure } from "../store.ts";

const MESSAGE_BYTES_MAX = 4_194_304;
/** Missed heartbeats after which an open connection counts as dead. */
const SILENT_HEARTBEATS_MAX = 3;
const SOCKET_OPTIONS = {
  noServer: true,
  maxPayload: MESSAGE_BYTES_MAX,
  // How long the other end may take to close its half before the socket is destroyed.
  closeTimeout: 2_000,
} as const;

/** The credential and address at the other end of a session. */
type Origin = { readonly credentialId: AgentCredentialId; readonly name: string; readonly measuresLine: boolean };

/** Counters of a machine's last report that are not stored yet. */
export type LastWord = { readonly machineId: MachineId; readonly unstored: UnstoredCounters | undefined };

/** Means of the gateway, which holds connections and knows nothing of rentals. */
export type AgentPorts = Omit<SessionPorts, "heartbeatMs" | "measureMs"> &
  StreamPorts &
  ReleasePort & {
    /** Throws `rate_limited` where the address has shown too many wrong tokens. */
    readonly authenticate: (
      token: string | undefined,
      knock: { readonly challenge: string | undefined; readonly address: string },
    ) => Promise<Admitted | undefined>;
    /** Addresses of all servers for this agent, and its passes for them; undefined for an agent that is not told. */
    readonly serversFor: (credential: Admitted) => ServerList | undefined;
    /** Lets a machine in, or throws the refusal. */
    readonly register: (arrival: Arrival) => Promise<Admission>;
    /**
     * The challenge that the agent has to answer at the public address that it names, where its connection does not
     * prove that address.
     */
    readonly challenge: (arrival: Arrival) => AddressChallenge | undefined;
    /** Notes that a copy connected while the machine itself is connected; returns the error to refuse it with. */
    readonly recordClone: (machineId: MachineId) => Promise<AppError>;
    /** The revoked ones of these credentials. */
    readonly listRevoked: (ids: readonly AgentCredentialId[]) => Promise<readonly AgentCredentialId[]>;
    readonly disconnected: (departure: Departure & LastWord) => Promise<void>;
    /** Stores counters that were put off to the next report, since there will be none. */
    readonly storeCounters: (last: LastWord) => Promise<void>;
    /** The connection, to any server, of the machine that an agent names. */
    readonly findConnectionNamed: (name: {
      readonly credentialId: AgentCredentialId;
      readonly hostKey: string;
    }) => Promise<Connection | undefined>;
  };

/** Finds the client's address of a connection behind trusted proxies. */
type AddressOf = (request: IncomingMessage) => {
  readonly address: string;
  /** True for the address of a proxy that does not say who is behind it. */
  readonly isProxy: boolean;
};

/** The server's end of the agents' WebSockets: full desired sets down, full observed sets up. */
export class AgentGateway {
  readonly #sessions = new Map<MachineId, AgentSession>();
  /** Connections that have not sent a hello yet, with the time at which they opened. */
  readonly #strangers = new Map<WebSocket, number>();
  readonly #origins = new WeakMap<AgentSession, Origin>();
  /** Sessions by the credential and the name of their agents. */
  readonly #named = new Map<string, AgentSession>();
  /** Answers to challenges of agents, by their requests. */
  readonly #proofs = new WeakMap<IncomingMessage, string>();
  readonly #streams: AgentStreams;
  readonly #sockets = new WebSocketServer(SOCKET_OPTIONS);
  readonly #ports: AgentPorts & SessionPorts;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #addressOf: AddressOf;
  /** Arrivals and departures that are being stored: the database is closed after them. */
  readonly #pending = new Set<Promise<void>>();
  #stopSweeping: (() => void) | undefined;
  #isClosing = false;

  constructor(
    ports: AgentPorts,
    { clock, log, addressOf }: { readonly clock: Clock; readonly log: Log; readonly addressOf: AddressOf },
  ) {
    this.#addressOf = addressOf;
    this.#ports = { ...ports, ...intervalsFor(() => this.#sessions.size) };
    this.#clock = clock;
    this.#log = log;
    this.#streams = new AgentStreams(this.#sockets, ports, { clock, log });
    this.#sockets.on("headers", (headers, request) => {
      const proof = this.#proofs.get(request);
      if (proof !== undefined) headers.push(`${PROOF_HEADER}: ${proof}`);
    });
  }

  /** Serves `/agent` on an HTTP server that is about to listen. */
  attach(server: Server): void {
    server.on("upgrade", (request, socket, head) => void this.#upgrade(request, socket, head));
    this.#stopSweeping = this.#clock.every(HEARTBEAT_MS, () => this.#sweep());
  }

  get connectedCount(): number {
    return this.#sessions.size;
  }

  /** Last reported inventories of the machines that are connected here. */
  inventories(): ReadonlyMap<MachineId, Inventory> {
    const said = [...this.#sessions.values()].flatMap(({ machineId, inventory }) =>
      inventory === undefined ? [] : [[machineId, inventory] as const],
    );
    return new Map(said);
  }

  /** Sends these machines their desired set again, if they are connected here. */
  push(machineIds: readonly MachineId[]): void {
    for (const id of machineIds) this.#sessions.get(id)?.push();
  }

  /**
   * A byte stream into an instance, from its machine's agent: a WebSocket of binary messages, with an empty one for the
   * end of a direction. Undefined when the machine is connected to no server, or does not open the tunnel.
   */
  async openTunnel(machineId: MachineId, target: TunnelTarget): Promise<WebSocket | undefined> {
    const session = this.#sessions.get(machineId);
    const origin = session && this.#origins.get(session);
    if (this.#isClosing) return undefined;
    if (session === undefined || origin === undefined) return this.#streams.openElsewhere(machineId, target);
    return this.#streams.openHere(origin.credentialId, target, (message) => session.send(message));
  }

  /** Machines that are connected here and whose uplinks can be measured by a tunnel of the service `line`. */
  measurable(): readonly MachineId[] {
    const sessions = [...this.#sessions.values()];
    return sessions.filter((one) => this.#origins.get(one)?.measuresLine).map(({ machineId }) => machineId);
  }

  /** Passes on a request of another server to an agent that is connected here. */
  askForTunnel(machineId: MachineId, request: OpenTunnel): void {
    this.#sessions.get(machineId)?.send(request);
  }

  /** The connections that are open here, with their session numbers. */
  registrations(): readonly Registration[] {
    return [...this.#sessions.values()].map(({ machineId, sessionNumber }) => ({ machineId, sessionNumber }));
  }

  /** Ends the connection of a machine that has a newer connection to another server. */
  supersede({ machineId, sessionNumber }: Registration): void {
    const session = this.#sessions.get(machineId);
    if (session !== undefined && session.sessionNumber < sessionNumber) session.supersede();
  }

  pushAll(): void {
    for (const session of this.#sessions.values()) session.push();
  }

  /** Ends the connections of a revoked credential. */
  revoke(id: AgentCredentialId): void {
    const { code, publicMessage } = revoked();
    for (const session of this.#sessions.values()) {
      if (this.#origins.get(session)?.credentialId === id) session.refuse(code, publicMessage);
    }
  }

  /** Ends the connections of credentials that were revoked while this server could not be told. */
  async revokeMissed(): Promise<void> {
    const held = [...this.#sessions.values()].flatMap((session) => this.#origins.get(session)?.credentialId ?? []);
    try {
      for (const id of await this.#ports.listRevoked([...new Set(held)])) this.revoke(id);
    } catch (error) {
      // The listener reports the next gap too; until then each new connection is checked.
      this.#log.error({ err: error }, "looking for revoked credentials failed");
    }
  }

  /** Ends the connection of a machine that its host deleted. */
  dismiss(machineId: MachineId): void {
    const { code, publicMessage } = deleted();
    this.#sessions.get(machineId)?.refuse(code, publicMessage);
  }

  /** Sends a machine its open tasks, if it is connected here. */
  pushTasks(machineId: MachineId): void {
    this.#sessions.get(machineId)?.pushTasks();
  }

  pushAllTasks(): void {
    for (const session of this.#sessions.values()) session.pushTasks();
  }

  /**
   * Ends all connections when their reports are stored; nothing is noted after that. The next start counts every
   * machine as away.
   */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#stopSweeping?.();
    this.#streams.close();
    for (const socket of this.#strangers.keys()) socket.terminate();
    this.#sockets.close();
    // After this, each machine that was about to be let in has a session.
    while (this.#pending.size > 0) await Promise.all(this.#pending);
    await Promise.all([...this.#sessions.values()].map((session) => this.#end(session)));
  }

  #noting(work: Promise<void>): void {
    const settled = work.finally(() => this.#pending.delete(settled));
    this.#pending.add(settled);
  }

  async #end(session: AgentSession): Promise<void> {
    const { machineId } = session;
    await session.end(1001, "the server is stopping");
    const unstored = await session.stored();
    if (unstored === undefined) return;
    try {
      await this.#ports.storeCounters({ machineId, unstored });
    } catch (error) {
      this.#log.error({ err: error, machine_id: machineId }, "storing the last counters of a machine failed");
    }
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on("error", (error) => this.#log.debug({ err: error }, "an agent's socket broke during the handshake"));
    const path = (request.url ?? "").split("?")[0]?.replace(/\/$/, "") ?? "";
    const token = /^bearer\s+(\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
    const isStream = isStreamPath(path);
    if (path.startsWith("/server/")) return this.#answerServer({ request, socket, head }, path);
    // Clients of renters are served by their routes.
    if (path.startsWith("/api/")) return;
    if (path !== "/agent" && !isStream) return refuseUpgrade(socket, "404 Not Found");
    try {
      const from = this.#addressOf(request);
      const shown = [request.headers[CHALLENGE_HEADER]].flat()[0];
      const credential = await this.#ports.authenticate(token, { challenge: shown, address: from.address });
      if (!credential || (credential.isRevoked && isStream)) return refuseUpgrade(socket, "401 Unauthorized");
      if (this.#isClosing) return refuseUpgrade(socket, "503 Service Unavailable");
      if (isStream) return await this.#streams.serveAgent({ request, socket, head }, path, credential.id);
      if (credential.proof !== undefined) this.#proofs.set(request, credential.proof);
      // The agent that a server starts itself connects without a proxy.
      const address = from.isProxy && credential.joiner !== undefined ? undefined : from.address;
      this.#sockets.handleUpgrade(request, socket, head, (webSocket) => this.#greet(webSocket, credential, address));
    } catch (error) {
      const isTooSoon = error instanceof AppError && error.kind === "rate_limited";
      if (isTooSoon) return refuseUpgrade(socket, "429 Too Many Requests");
      this.#log.error({ err: error }, "authenticating an agent failed");
      refuseUpgrade(socket, "503 Service Unavailable");
    }
  }

  async #answerServer(knock: Knock, path: string): Promise<void> {
    try {
      await this.#streams.serveServer(knock, path, async (id) => (await this.#sessions.get(id)?.answers()) ?? false);
    } catch (error) {
      this.#log.error({ err: error }, "answering another server failed");
      refuseUpgrade(knock.socket, "503 Service Unavailable");
    }
  }

  /** Waits for the hello that names the machine, as long as for any other sign of life. */
  #greet(socket: WebSocket, credential: Admitted, address: string | undefined): void {
    this.#strangers.set(socket, this.#clock.monotonicMs());
    socket.on("error", (error) => this.#log.debug({ err: error }, "an agent's connection broke"));
    socket.once("close", () => this.#strangers.delete(socket));
    socket.once("message", (data) => {
      this.#strangers.delete(socket);
      const decoded = decodeAgentMessage(textOf(data));
      if (!decoded.ok) return refuse(socket, "malformed", decoded.problem);
      const hello = decoded.message;
      if (hello.kind !== "hello") return refuse(socket, "malformed", "the first message must be a hello");
      if (hello.protocol_version !== PROTOCOL_VERSION) {
        return refuse(socket, "protocol_version", `this server speaks protocol ${PROTOCOL_VERSION}`);
      }
      this.#noting(this.#open(socket, credential, { hello, address }));
    });
  }

  async #open(
    socket: WebSocket,
    credential: Admitted,
    { hello, address }: { readonly hello: Hello; readonly address: string | undefined },
  ): Promise<void> {
    try {
      // Reports may follow at once; they wait until the machine is known.
      socket.pause();
      refuseImpossibleGpus(hello);
      await this.#refuseWhileConnected(credential, hello);
      const release = await this.#ports.releaseFor(credential, hello);
      const arrival = { credential, hello, ...(address === undefined ? {} : { address }) };
      const admission = await this.#ports.register(arrival);
      const { machineId } = admission;
      const earlier = this.#sessions.get(machineId);
      const ports = answerUnknownTasks(hello, this.#ports);
      const session = new AgentSession(socket, machineId, ports, { clock: this.#clock, log: this.#log });
      this.#sessions.set(machineId, session);
      const name = nameOf(credential, hello);
      this.#origins.set(session, { credentialId: credential.id, name, measuresLine: hello.measures_line === true });
      this.#named.set(name, session);
      socket.once("close", () => this.#leave(admission, session));
      await earlier?.end(4000, "the same machine connected again");
      // The socket may have closed before its listener was added.
      if (socket.readyState !== socket.OPEN) return this.#leave(admission, session);
      const challenge = this.#ports.challenge(arrival);
      const servers = this.#ports.serversFor(credential);
      session.start(admission, {
        ...(challenge === undefined ? {} : { address_nonce: challenge.nonce }),
        ...(servers === undefined ? {} : { servers }),
        ...release,
      });
      if (challenge !== undefined) this.#noting(this.#call(admission, challenge));
    } catch (error) {
      if (error instanceof AppError) refuse(socket, error.code, error.publicMessage);
      else {
        this.#log.error({ err: error, host_key: hello.host_key }, "registering a machine failed");
        refuse(socket, "unavailable", "the server could not register this machine");
      }
    } finally {
      socket.resume();
    }
  }

  async #call(admission: Admission, challenge: AddressChallenge): Promise<void> {
    try {
      await challenge.call(admission);
    } catch (error) {
      const { machineId } = admission;
      this.#log.error({ err: error, machine_id: machineId }, "calling a host at its public address failed");
    }
  }

  /**
   * Refuses an agent whose credential, created by joining, a connected agent that answers has already. An agent that
   * reconnects because its old connection is dead takes that one's place.
   */
  async #refuseWhileConnected(credential: Credential, hello: Hello): Promise<void> {
    if (credential.joiner === undefined) return;
    const session = this.#named.get(nameOf(credential, hello));
    if (session !== undefined) {
      if (await session.answers()) throw await this.#ports.recordClone(session.machineId);
      return;
    }
    const name = { credentialId: credential.id, hostKey: hello.host_key };
    const elsewhere = await this.#ports.findConnectionNamed(name);
    if (elsewhere === undefined || !(await this.#streams.answersElsewhere(elsewhere))) return;
    throw await this.#ports.recordClone(elsewhere.machineId);
  }

  #leave(registration: Registration, session: AgentSession): void {
    const { machineId } = registration;
    const name = this.#origins.get(session)?.name ?? "";
    if (this.#named.get(name) === session) this.#named.delete(name);
    if (this.#isClosing || this.#sessions.get(machineId) !== session) return;
    this.#sessions.delete(machineId);
    const heardAt = new Date(this.#clock.now().getTime() - (this.#clock.monotonicMs() - session.lastWordMs));
    // A report that is being stored comes before the end: it may be the last one.
    const noted = session
      .stored()
      .then((unstored) => this.#ports.disconnected({ ...registration, heardAt, unstored }))
      .catch((error: unknown) =>
        this.#log.error({ err: error, machine_id: machineId }, "noting the end of a connection failed"),
      );
    this.#noting(noted);
  }

  #sweep(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const session of this.#sessions.values()) {
      if (nowMs - session.lastHeardMs > SILENT_HEARTBEATS_MAX * session.heartbeatMs) session.terminate();
    }
    const strangeMs = SILENT_HEARTBEATS_MAX * HEARTBEAT_MS;
    for (const [socket, sinceMs] of this.#strangers) if (nowMs - sinceMs > strangeMs) socket.terminate();
  }
}
