import { WebSocket, type RawData } from "ws";
import manifest from "../../../package.json" with { type: "json" };
import { PROOF_HEADER, PROTOCOL_VERSION } from "../../../protocol/index.ts";
import {
  readServerMessage,
  writeAgentMessage,
  type AgentMessage,
  type Desired,
  type GpuHealth,
  type Hello,
  type OpenTunnel,
  type ServerMessage,
  type Task,
  type TaskProgress,
  type TaskResult,
  type Welcome,
} from "../wire/messages.ts";
import type { AddressDoor } from "./address-door.ts";
import { certificateProblem } from "./server-trust.ts";
import { backOffDelay, type BackOff } from "../base/back-off.ts";
import type { Host } from "../instances/host.ts";
import { firstLease, isLive, renew, type Lease } from "./lease.ts";
import { MeasurementSender, type MeasurementSenderInput } from "./measurement-sender.ts";
import type { Notes, NotesStore } from "../instances/notes.ts";
import { noProof, type ProofStore } from "./proof.ts";
import type { ServerChoice } from "./servers.ts";
import { offerIn, updateFacts, type SessionUpdates } from "../update/session-updates.ts";

export type SessionDependencies = MeasurementSenderInput & {
  readonly random: () => number;
  readonly servers: ServerChoice;
  readonly bootId: string;
  readonly notesStore: NotesStore;
  /**
   * Proofs that the control plane asks to see again at the next connection; absent for an agent that a server starts
   * itself.
   */
  readonly proofStore?: ProofStore | undefined;
  readonly describe: () => Promise<
    Omit<Hello, "kind" | "protocolVersion" | "agentVersion" | "bootId" | "sessionProof" | "addressPort">
  >;
  readonly health: () => GpuHealth[];
  readonly host: Host;
  /** Connects an instance with somebody who waits for it at the control plane. */
  readonly openTunnel?: (request: OpenTunnel) => void;
  /** Takes a task that is given once, beside the desired set. */
  readonly onTask?: (task: Task) => void;
  readonly onCancelTask?: (taskId: string) => void;
  /** Opens a port at which the server can call this host's public address. */
  readonly openAddressDoor?: () => Promise<AddressDoor | undefined>;
  readonly updates?: SessionUpdates | undefined;
  /** Called when the server has welcomed this agent, and unsent results can be sent. */
  readonly onConnected?: () => void;
};

const RECONNECT: BackOff = { firstMs: 200, limitMs: 10_000 };
/** The attempt that a refusal counts as: the next one takes the longest delay, since asking often mends no refusal. */
const ATTEMPT_AFTER_REFUSAL = 10;
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Largest message; a desired set of some hundred instances with all fields is far smaller. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const COALESCE_MS = 5;
/** Reports on their way without acknowledgement; more changes wait and are told together. */
const MAX_OUTSTANDING = 4;
/** Heartbeats without any answer after which the connection counts as dead although nobody closed it. */
const PATIENCE_HEARTBEATS = 3;
const FIRST_TICK_MS = 500;
const MAX_TICK_MS = 1_000;
const MIN_TICK_MS = 5;
/** Time between notes while no server can be told: the most of a run that a power cut may lose. */
const NOTE_EVERY_MS = 5_000;
const [NORMAL_CLOSURE, VIOLATION] = [1000, 1008];

type Outstanding = { readonly sequence: number; readonly sentAtMs: number; readonly finals: readonly string[] };
type Connection = {
  readonly socket: WebSocket;
  readonly openedAtMs: number;
  readonly addressDoor: AddressDoor | undefined;
  helloAtMs: number;
  welcome: Welcome | undefined;
  /** The proof of this welcome could not be stored. */
  isProofLost: boolean;
  desiredVersion: number;
  sequence: number;
  outstanding: readonly Outstanding[];
};

/**
 * The link of one host to the control plane: it carries the desired set down and the observed set up, reconnects for
 * ever, and holds the heartbeat lease. All timing goes through one ticker, so that a thousand hosts fit into one process.
 */
export class Session {
  readonly #deps: SessionDependencies;
  readonly #proofs: ProofStore;
  readonly #measurements: MeasurementSender;
  readonly #closing = new AbortController();
  #connection: Connection | undefined;
  #attempts = 0;
  /** The code of the last refusal in the log, until a welcome. */
  #refusedFor: string | undefined;
  #lease: Lease;
  #nextHeartbeatMs = 0;
  #nextNotesMs = 0;
  #isReportDue = false;
  #isFlushScheduled = false;
  #tickMs = FIRST_TICK_MS;
  #stopTicking: () => void;

  constructor(deps: SessionDependencies, notes: Notes | undefined) {
    this.#deps = deps;
    this.#measurements = new MeasurementSender(deps);
    this.#proofs = deps.proofStore ?? noProof;
    this.#lease = firstLease(notes, deps.bootId, deps.clock.monotonicMs());
    this.#stopTicking = deps.clock.every(this.#tickMs, () => this.#tick());
  }

  /** Connects after `delayMs`, which spreads many hosts of one process. */
  async begin(delayMs: number): Promise<void> {
    await this.#deps.clock.sleep(delayMs, this.#closing.signal);
    await this.#connect();
  }

  /** The host has news. `state` goes out at once (what happens within a few milliseconds together), `progress` soon. */
  changed(urgency: "state" | "progress"): void {
    this.#isReportDue = true;
    if (urgency === "progress" || this.#isFlushScheduled) return;
    this.#isFlushScheduled = true;
    void this.#deps.clock.sleep(COALESCE_MS, this.#closing.signal).then(() => {
      this.#isFlushScheduled = false;
      if (this.#isReportDue) this.#sendReport();
    });
  }

  /** Sends beside the reports; false when there is no connection that could carry it. */
  send(message: TaskProgress | TaskResult): boolean {
    const connection = this.#connection;
    if (!connection?.welcome || connection.socket.readyState !== WebSocket.OPEN) return false;
    send(connection.socket, message);
    return true;
  }

  /** Connects again, since the hello described the machine as it no longer is. */
  renew(): void {
    this.#connection?.socket.close(1000, "the inventory changed");
  }

  /** Closes the connection; containers keep running. */
  close(): void {
    if (this.#closing.signal.aborted) return;
    this.#saveNotes();
    this.#closing.abort();
    this.#stopTicking();
    this.#connection?.socket.close(1001, "the agent stops");
    this.#connection = undefined;
  }

  async #connect(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    const description = await this.#deps.describe();
    const addressDoor = await this.#deps.openAddressDoor?.();
    if (this.#closing.signal.aborted) return addressDoor?.close();
    const { socketUrl, headers, isAnsweredBy } = this.#deps.servers.dial();
    const socket = new WebSocket(socketUrl, {
      headers,
      perMessageDeflate: false,
      maxPayload: MAX_MESSAGE_BYTES,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    });
    const connection: Connection = {
      socket,
      openedAtMs: this.#deps.clock.monotonicMs(),
      addressDoor,
      helloAtMs: 0,
      welcome: undefined,
      isProofLost: false,
      desiredVersion: 0,
      sequence: 0,
      outstanding: [],
    };
    this.#connection = connection;
    socket.on("upgrade", ({ headers: answered }) => {
      const proof = answered[PROOF_HEADER];
      if (isAnsweredBy(Array.isArray(proof) ? proof[0] : proof)) return;
      this.#deps.log.warn(
        { address: socketUrl },
        "the server at this address is not of this installation, so the agent does not say hello",
      );
      socket.terminate();
    });
    socket.on("open", () => {
      connection.helloAtMs = this.#deps.clock.monotonicMs();
      const { bootId } = this.#deps;
      const versions = { protocolVersion: PROTOCOL_VERSION, agentVersion: manifest.version };
      const door = addressDoor === undefined ? {} : { addressPort: addressDoor.port };
      send(socket, {
        ...{ kind: "hello", ...versions },
        ...{ bootId, ...description },
        ...{ ...door, ...updateFacts(this.#deps.updates) },
        sessionProof: this.#proofs.load(),
      });
    });
    socket.on("message", (data, isBinary) => this.#onData(connection, data, isBinary));
    socket.on("error", (error) =>
      this.#deps.log.warn(
        { problem: certificateProblem(error) ?? error.message, address: socketUrl },
        "the connection to the server failed",
      ),
    );
    socket.on("close", (code, reason) => {
      addressDoor?.close();
      this.#onClose(connection, code, reason.toString());
    });
  }

  #onClose(connection: Connection, code: number, reason: string): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    const { servers, random } = this.#deps;
    // After a goodbye of its own it stays with its server; any other end of a connection may be the server's end.
    if (code !== NORMAL_CLOSURE || this.#attempts > 0) servers.next();
    const delayMs = backOffDelay(RECONNECT, Math.floor(this.#attempts / servers.count), random());
    this.#attempts += 1;
    this.#deps.log.info({ code, reason, delay_ms: Math.round(delayMs) }, "disconnected, connecting again");
    void this.begin(delayMs);
  }

  #onData(connection: Connection, data: RawData, isBinary: boolean): void {
    if (this.#connection !== connection) return;
    if (isBinary || !Buffer.isBuffer(data)) return this.#violation(connection, "a binary message");
    const decoded = readServerMessage(data.toString("utf8"));
    if (!decoded.ok) return this.#violation(connection, decoded.problem);
    this.#onMessage(connection, decoded.message);
  }

  #onMessage(connection: Connection, message: ServerMessage): void {
    if (message.kind === "welcome") return this.#onWelcome(connection, message);
    if (message.kind === "refuse") return this.#onRefusal(connection, message);
    if (!connection.welcome) return this.#violation(connection, `${message.kind} before welcome`);
    if (message.kind === "desired") this.#onDesired(connection, message);
    else if (message.kind === "acknowledge") this.#onAcknowledge(connection, message);
    else if (message.kind === "open_tunnel") this.#deps.openTunnel?.(message);
    else if (message.kind === "task") this.#deps.onTask?.(message);
    else this.#deps.onCancelTask?.(message.taskId);
  }

  #onRefusal(connection: Connection, { code, message }: Extract<ServerMessage, { kind: "refuse" }>): void {
    // The agent goes on asking, and containers run until the lease ends; the log warns once.
    const level = this.#refusedFor === code ? "debug" : "warn";
    this.#deps.log[level]({ code, text: message }, "the server refuses this agent");
    this.#refusedFor = code;
    this.#attempts = ATTEMPT_AFTER_REFUSAL * this.#deps.servers.count;
    connection.socket.close(1000);
  }

  #onWelcome(connection: Connection, welcome: Welcome): void {
    connection.welcome = welcome;
    if (welcome.addressNonce === undefined) connection.addressDoor?.close();
    else connection.addressDoor?.answer(welcome.addressNonce);
    this.#refusedFor = undefined;
    this.#deps.servers.welcomed(welcome.servers);
    connection.isProofLost = welcome.sessionProof !== "" && !this.#proofs.keep(welcome.sessionProof);
    this.#lease = { ...this.#lease, leaseMs: welcome.leaseMs };
    this.#deps.log.info({ machine_id: welcome.machineId, heartbeat_ms: welcome.heartbeatMs }, "connected");
    const tickMs = Math.min(welcome.heartbeatMs / 4, welcome.leaseMs / 8);
    this.#retick(Math.max(MIN_TICK_MS, Math.min(MAX_TICK_MS, Math.floor(tickMs))));
    this.#sendReport();
    void this.#deps.updates?.offer(offerIn(welcome, this.#deps.servers));
    this.#deps.onConnected?.();
  }

  #onDesired(connection: Connection, desired: Desired): void {
    if (desired.version < connection.desiredVersion) {
      this.#deps.log.debug({ version: desired.version }, "an older desired set came late and is ignored");
      return;
    }
    connection.desiredVersion = desired.version;
    // The orders come first, so that a renewed lease starts what is wanted now, and no earlier order.
    this.#deps.host.setDesired(desired);
    // It was sent in answer to this connection's hello, so the server was there after that.
    this.#renewLease(connection.helloAtMs);
  }

  #onAcknowledge(
    connection: Connection,
    { sequence, heartbeatMs, serverAddresses }: Extract<ServerMessage, { kind: "acknowledge" }>,
  ): void {
    this.#deps.servers.hear(serverAddresses);
    if (sequence > connection.sequence) return this.#violation(connection, "acknowledges what was never sent");
    const found = connection.outstanding.find((report) => report.sequence === sequence);
    if (!found) return;
    if (heartbeatMs !== undefined && connection.welcome) connection.welcome = { ...connection.welcome, heartbeatMs };
    this.#attempts = 0;
    connection.outstanding = connection.outstanding.filter((report) => report.sequence > sequence);
    this.#deps.host.acknowledge(found.finals);
    this.#deps.updates?.reported();
    // Orders of an earlier connection may have been withdrawn since: after the end of the lease they start no
    // container.
    const isHeld = connection.desiredVersion > 0 || isLive(this.#lease, this.#deps.clock.monotonicMs());
    if (isHeld) this.#renewLease(found.sentAtMs);
    if (this.#isReportDue) this.changed("state");
  }

  #renewLease(sentAtMs: number): void {
    this.#lease = renew(this.#lease, sentAtMs);
    this.#deps.host.setLease(isLive(this.#lease, this.#deps.clock.monotonicMs()));
  }

  #violation(connection: Connection, problem: string): void {
    this.#deps.log.warn(
      { problem: problem.slice(0, 200) },
      "the server sent a message that the protocol does not have",
    );
    // A close reason has room for 123 bytes; one character may take three of them.
    connection.socket.close(VIOLATION, problem.slice(0, 40));
    this.#onClose(connection, VIOLATION, problem.slice(0, 200));
  }

  #tick(): void {
    const now = this.#deps.clock.monotonicMs();
    this.#deps.host.setLease(isLive(this.#lease, now));
    this.#deps.host.tick();
    const connection = this.#connection;
    if (connection && isSilent(connection, now)) {
      this.#deps.log.warn({}, "the server has fallen silent");
      connection.socket.terminate();
      return;
    }
    if (!connection || !mayReport(connection)) {
      // Notes are a file, so they are not written at each tick.
      if (now >= this.#nextNotesMs) this.#sendReport();
      return;
    }
    if (now >= this.#nextHeartbeatMs) {
      this.#sendReport();
      void this.#deps.host.sampleTraffic();
    } else if (this.#isReportDue && !this.#isFlushScheduled) this.#sendReport();
    // Before its orders the server would not know whose instances these are.
    if (connection.desiredVersion > 0) this.#measurements.tick(connection.socket, connection.welcome?.measureMs);
  }

  #sendReport(): void {
    const connection = this.#connection;
    this.#isReportDue = true;
    const { desiredVersion, instances, volumes, finals } = this.#deps.host.report();
    // Also while no server can be told: the power may go before one can.
    this.#saveNotes();
    if (!connection?.welcome || !mayReport(connection)) return;
    this.#isReportDue = false;
    const sequence = connection.sequence + 1;
    connection.sequence = sequence;
    const now = this.#deps.clock.monotonicMs();
    connection.outstanding = [...connection.outstanding, { sequence, sentAtMs: now, finals }];
    // The next heartbeat is early by a random part, so that hosts which connected together drift apart.
    this.#nextHeartbeatMs = now + connection.welcome.heartbeatMs * (0.75 + this.#deps.random() * 0.25) - this.#tickMs;
    // A version of an earlier connection means nothing to this one.
    const version = connection.desiredVersion === 0 ? 0 : desiredVersion;
    send(connection.socket, {
      kind: "report",
      sequence,
      desiredVersion: version,
      instances,
      volumes: [...volumes],
      gpus: this.#deps.health(),
      ...(connection.isProofLost ? { isProofLost: true } : {}),
    });
  }

  #saveNotes(): void {
    const { clock, notesStore, bootId, host } = this.#deps;
    this.#nextNotesMs = clock.monotonicMs() + NOTE_EVERY_MS;
    const notes = host.notes();
    if (notes) notesStore.save({ bootId, lease: this.#lease, ...notes });
  }

  #retick(ms: number): void {
    if (ms === this.#tickMs) return;
    this.#tickMs = ms;
    this.#stopTicking();
    this.#stopTicking = this.#deps.clock.every(ms, () => this.#tick());
  }
}

/** True when the server has welcomed this agent and owes few acknowledgements. */
function mayReport({ welcome, socket, outstanding }: Connection): boolean {
  return welcome !== undefined && socket.readyState === WebSocket.OPEN && outstanding.length < MAX_OUTSTANDING;
}

/** True when the server owes an answer for so long that the connection counts as dead although nobody closed it. */
function isSilent(connection: Connection, now: number): boolean {
  if (!connection.welcome) return now - connection.openedAtMs > 2 * HANDSHAKE_TIMEOUT_MS;
  const oldest = connection.outstanding[0];
  return oldest !== undefined && now - oldest.sentAtMs > PATIENCE_HEARTBEATS * connection.welcome.heartbeatMs;
}

function send(socket: WebSocket, message: AgentMessage): void {
  socket.send(writeAgentMessage(message), (error) => {
    // A broken connection closes, and the close is handled.
    if (error) socket.terminate();
  });
}
