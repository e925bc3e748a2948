import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocket, WebSocketServer } from "ws";
import type { OpenTunnel, TransferSide } from "../../../../../../protocol/index.ts";
import type { Clock } from "../../../../base/clock.ts";
import { asId, type AgentCredentialId, type MachineId, type ServerId } from "../../../../base/ids.ts";
import type { Log } from "../../../../base/log.ts";
import type { Connection } from "../sessions/connection-store.ts";
import { endWith, reachServer, relay, type Reached } from "./relay.ts";
import { Transfers } from "./copies.ts";
import { ExpectedTunnels, serverOfTunnel, type TunnelTarget } from "./expected-tunnels.ts";

/** Paths of streams: `/agent/…` from an agent, `/server/…` from another server that passes an agent's stream on. */
const STREAM_PATH =
  /^\/(?:agent|server)\/(?:tunnel\/([A-Za-z0-9_-]{1,64})|transfer\/([A-Za-z0-9_-]{1,64})\/(send|receive))$/;
const SESSION_PATH = /^\/server\/session\/(\d{1,10})$/;
/** After this time without traffic the operating system asks the other end of a tunnel whether it is still there. */
const KEEP_ALIVE_MS = 30_000;

/** Functions of the rest of the server that streams need. */
export type StreamPorts = {
  /** The connection of a machine to any server. */
  readonly findConnection: (machineId: MachineId) => Promise<Connection | undefined>;
  /** The machine that does this half of a copy between hosts; undefined once there is none. */
  readonly findTransferHost: (transferId: string, side: TransferSide) => Promise<MachineId | undefined>;
  /**
   * The function that takes a host's connection where this server itself is the other end of a transfer; undefined where
   * it is another host, and "busy" when the host has to come later.
   */
  readonly findOwnEnd: (transferId: string) => Promise<((socket: WebSocket) => void) | "busy" | undefined>;
  /** Asks the server that has the agent of a machine to send it this request. */
  readonly announceTunnel: (machineId: MachineId, request: OpenTunnel) => Promise<void>;
  /** Id of this server; undefined where it is the only one. */
  readonly serverId: () => ServerId | undefined;
  /** The address at which another server is reached. */
  readonly addressOfServer: (id: ServerId) => Promise<string | undefined>;
  /** Proves to another server that a request comes from this one, which has checked the agent's credential. */
  readonly prove: (request: { readonly path: string; readonly subject: number }) => string;
  /**
   * The credential that another server has checked; undefined for a request that comes from no server of this database.
   */
  readonly readProof: (shown: { readonly path: string; readonly header: string | undefined }) => number | undefined;
};

/** A request to open a stream, before it is answered. */
export type Knock = { readonly request: IncomingMessage; readonly socket: Duplex; readonly head: Buffer };
type Caller = { readonly path: string; readonly credentialId: AgentCredentialId; readonly isRelayed: boolean };
type Half = { readonly transferId: string; readonly side: TransferSide };

/** True for a path of an agent's stream. */
export function isStreamPath(path: string): boolean {
  return path.startsWith("/agent/") && STREAM_PATH.test(path);
}

/**
 * Byte streams between agents and this server: tunnels into instances and copies between hosts. An agent may open its
 * half at any server; that server passes the stream on to the server that waits for it.
 */
export class AgentStreams {
  readonly #tunnels: ExpectedTunnels;
  readonly #transfers: Transfers;
  /** Connections of transfers whose other end is this server. */
  readonly #ownEnds = new Set<WebSocket>();
  readonly #sockets: WebSocketServer;
  readonly #ports: StreamPorts;
  readonly #log: Log;
  #isClosing = false;

  constructor(
    sockets: WebSocketServer,
    ports: StreamPorts,
    { clock, log }: { readonly clock: Clock; readonly log: Log },
  ) {
    this.#sockets = sockets;
    this.#ports = ports;
    this.#log = log;
    this.#tunnels = new ExpectedTunnels(clock);
    this.#transfers = new Transfers(clock);
  }

  /** Asks an agent that is connected here for a tunnel. */
  async openHere(
    credentialId: AgentCredentialId,
    target: TunnelTarget,
    send: (message: OpenTunnel) => void,
  ): Promise<WebSocket | undefined> {
    return this.#tunnels.ask({ credentialId, serverId: this.#ports.serverId() }, target, send);
  }

  /** Asks an agent that is connected to another server for a tunnel. */
  async openElsewhere(machineId: MachineId, target: TunnelTarget): Promise<WebSocket | undefined> {
    const connection = await this.#ports.findConnection(machineId);
    if (connection === undefined || !this.#isElsewhere(connection.serverId)) return undefined;
    return this.openHere(connection.credentialId, target, (request) => {
      this.#ports.announceTunnel(machineId, request).catch((error: unknown) => {
        this.#log.error({ err: error, machine_id: machineId }, "asking another server for a tunnel failed");
      });
    });
  }

  /** True when the other server says that the agent behind this connection answers now. */
  async answersElsewhere({ machineId, serverId }: Connection): Promise<boolean> {
    if (serverId === null || !this.#isElsewhere(serverId)) return false;
    const reached = await this.#reach(serverId, `/server/session/${machineId}`, 0);
    if (reached.kind === "open") reached.socket.terminate();
    return reached.kind === "answered" && reached.status === 204;
  }

  /** Takes a stream from an agent whose credential was checked. */
  async serveAgent(knock: Knock, path: string, credentialId: AgentCredentialId): Promise<void> {
    await this.#serve(knock, { path, credentialId, isRelayed: false });
  }

  /** Answers another server: passes a stream on, or tells whether an agent answers. */
  async serveServer(
    knock: Knock,
    path: string,
    sessionAnswers: (machineId: MachineId) => Promise<boolean>,
  ): Promise<void> {
    const subject = this.#ports.readProof({ path, header: knock.request.headers.authorization });
    if (subject === undefined) return refuseUpgrade(knock.socket, "401 Unauthorized");
    const machineId = SESSION_PATH.exec(path)?.[1];
    if (machineId === undefined) {
      return this.#serve(knock, { path, credentialId: asId<AgentCredentialId>(subject), isRelayed: true });
    }
    const isThere = await sessionAnswers(asId<MachineId>(Number(machineId)));
    refuseUpgrade(knock.socket, isThere ? "204 No Content" : "404 Not Found");
  }

  /** Stops waiting for tunnels. */
  close(): void {
    this.#isClosing = true;
    this.#tunnels.close();
    this.#transfers.close();
    for (const socket of this.#ownEnds) socket.terminate();
  }

  async #serve(knock: Knock, caller: Caller): Promise<void> {
    const [, tunnelId, transferId, side] = STREAM_PATH.exec(caller.path) ?? [];
    if (tunnelId !== undefined) return this.#serveTunnel(knock, caller, tunnelId);
    if (transferId === undefined) return refuseUpgrade(knock.socket, "404 Not Found");
    return this.#serveTransfer(knock, caller, { transferId, side: side === "send" ? "send" : "receive" });
  }

  async #serveTunnel(knock: Knock, caller: Caller, tunnelId: string): Promise<void> {
    if (this.#tunnels.isExpected(tunnelId, caller.credentialId)) {
      return this.#accept(knock, (socket) => {
        // The socket stays paused until its consumer listens.
        socket.pause();
        this.#tunnels.arrive(tunnelId, socket);
      });
    }
    const owner = serverOfTunnel(tunnelId);
    if (caller.isRelayed || owner === undefined || !this.#isElsewhere(owner)) {
      return refuseUpgrade(knock.socket, "404 Not Found");
    }
    await this.#passOn(knock, caller, owner);
  }

  /**
   * Lets in the two machines of a copy, each for its own half; any other caller gets the answer for an unknown copy.
   */
  async #serveTransfer(knock: Knock, caller: Caller, { transferId, side }: Half): Promise<void> {
    const ports = this.#ports;
    const machineId = await ports.findTransferHost(transferId, side);
    const connection = machineId && (await ports.findConnection(machineId));
    const isOther = connection !== undefined && connection.credentialId !== caller.credentialId;
    if (machineId === undefined || isOther) return refuseUpgrade(knock.socket, "404 Not Found");
    // A machine that is not connected at the moment tries again, as it does when there are too many copies.
    if (connection === undefined || this.#isClosing) return refuseUpgrade(knock.socket, "503 Service Unavailable");
    const takeHere = await ports.findOwnEnd(transferId);
    if (takeHere === "busy") return refuseUpgrade(knock.socket, "503 Service Unavailable");
    if (takeHere !== undefined) return this.#accept(knock, (socket) => this.#keepUntilClosed(socket, takeHere));
    const home = caller.isRelayed ? undefined : await this.#homeOf(transferId);
    if (home !== undefined) return this.#passOn(knock, caller, home);
    if (!this.#transfers.hasRoomFor(transferId)) return refuseUpgrade(knock.socket, "503 Service Unavailable");
    this.#accept(knock, (socket) => this.#transfers.arrive(transferId, side, socket));
  }

  #keepUntilClosed(socket: WebSocket, take: (socket: WebSocket) => void): void {
    this.#ownEnds.add(socket);
    socket.once("close", () => this.#ownEnds.delete(socket));
    if (this.#isClosing) return socket.terminate();
    take(socket);
  }

  /**
   * The server at which the two halves of a copy meet: the one that the receiving host is connected to. Undefined for
   * this server.
   */
  async #homeOf(transferId: string): Promise<ServerId | undefined> {
    const receiver = await this.#ports.findTransferHost(transferId, "receive");
    const connection = receiver && (await this.#ports.findConnection(receiver));
    return connection !== undefined && this.#isElsewhere(connection.serverId) ? connection.serverId : undefined;
  }

  #isElsewhere(serverId: ServerId | null): serverId is ServerId {
    return serverId !== null && serverId !== this.#ports.serverId();
  }

  async #passOn(knock: Knock, { path, credentialId }: Caller, owner: ServerId): Promise<void> {
    const reached = await this.#reach(owner, path.replace(/^\/agent\//, "/server/"), credentialId);
    if (reached.kind === "open") {
      const upstream = reached.socket;
      if (knock.socket.destroyed) return upstream.terminate();
      const settle = endWith(knock.socket, upstream);
      return this.#accept(knock, (socket) => {
        settle();
        relay(socket, upstream);
      });
    }
    if (reached.kind === "failed") {
      this.#log.warn(
        { server_id: owner, problem: reached.problem },
        "another server of this database cannot be reached",
      );
    }
    const isUnknown = reached.kind === "answered" && reached.status === 404;
    refuseUpgrade(knock.socket, isUnknown ? "404 Not Found" : "503 Service Unavailable");
  }

  async #reach(serverId: ServerId, path: string, subject: number): Promise<Reached> {
    const address = await this.#ports.addressOfServer(serverId);
    if (address === undefined) return { kind: "failed", problem: "it has not said where it is" };
    return reachServer({ address, path, authorization: this.#ports.prove({ path, subject }) });
  }

  #accept({ request, socket, head }: Knock, take: (socket: WebSocket) => void): void {
    request.socket.setKeepAlive(true, KEEP_ALIVE_MS);
    request.socket.setNoDelay(true);
    this.#sockets.handleUpgrade(request, socket, head, (webSocket) => {
      webSocket.on("error", (error) => this.#log.debug({ err: error }, "a stream broke"));
      take(webSocket);
    });
  }
}

/** Answers a handshake and closes the whole connection: a connection that is only half closed would never time out. */
export function refuseUpgrade(socket: Duplex, status: string): void {
  const length = status.startsWith("204") ? "" : "Content-Length: 0\r\n";
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n${length}\r\n`, () => socket.destroy());
}
