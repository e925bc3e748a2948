import type { RawData, WebSocket } from "ws";
import {
  decodeAgentMessage,
  type Measurements,
  type Report,
  type ServerMessage,
  type TaskProgress,
  type TaskResult,
  type Welcome,
} from "../../../../../../protocol/index.ts";
import type { Clock } from "../../../../base/clock.ts";
import type { MachineId } from "../../../../base/ids.ts";
import type { Log } from "../../../../base/log.ts";
import type { Admission } from "./admission.ts";
import { gpuUseIn, type GpuUse } from "./rules/gpu-report.ts";
import { HEARTBEAT_MS, touchEveryMs, type Registration } from "../service.ts";
import { SessionIntake } from "./session-intake.ts";
import { SessionNews, type Inventory, type News, type UnstoredCounters } from "./session-news.ts";
import type { OpenTasks } from "./session-orders.ts";
import { SessionPush, type DesiredSet } from "./session-push.ts";

/** How long the other end may take to answer a ping before its connection counts as dead. */
const ANSWER_MS = 3_000;

/** A report with the facts that only its connection knows. */
export type ReceivedReport = Pick<News, "isRepeat" | "isHealthNews" | "isCountNews"> & {
  readonly report: Report;
  /** The number of the connection that it came on: once the machine has a newer one, nothing of this one counts. */
  readonly sessionNumber: number;
  /** When the report arrived, before it waited to be stored: its counters are of no later time. */
  readonly receivedAt: Date;
  /**
   * Instances that the host was ordered to stop, in the generation of its report, before it made the report: only for
   * these is "it does not run" a receipt of the end. An earlier report may be of a container that was about to start.
   */
  readonly obeyed: ReadonlySet<number>;
  /** Current GPU use by instance. */
  readonly gpuUse: ReadonlyMap<number, GpuUse>;
};

export type TaskMessage = TaskProgress | TaskResult;

/** Functions of the gateway that a session needs. */
export type SessionPorts = {
  readonly loadDesired: (machineId: MachineId) => Promise<DesiredSet>;
  /** Stores a report; false when the machine has a newer connection, here or to another server. */
  readonly record: (machineId: MachineId, received: ReceivedReport) => Promise<boolean>;
  readonly loadTasks: (machineId: MachineId) => Promise<OpenTasks>;
  /** Notes that the agent has stored the proof from its welcome. */
  readonly confirmProof: (registration: Registration) => Promise<void>;
  readonly recordTask: (machineId: MachineId, message: TaskMessage) => Promise<void>;
  /** The interval at which the server wants a report of each machine now. */
  readonly heartbeatMs: (leaseMs: number) => number;
  /** The interval at which the server wants a measurement of each machine now. */
  readonly measureMs: () => number;
  /** Takes a measurement; `gpusOf` are the instances that the machine was told to have, with their GPUs. */
  readonly measure: (
    machineId: MachineId,
    message: Measurements,
    gpusOf: ReadonlyMap<number, readonly string[]>,
  ) => void;
  /** Addresses of the live servers for agents; the same array until they change. */
  readonly serverAddresses: () => readonly string[];
};

/** One connection of one machine, from its welcome to its end. */
export class AgentSession {
  readonly machineId: MachineId;
  /** The interval at which the agent was asked to report. */
  heartbeatMs = HEARTBEAT_MS;
  /** The number of this connection of the machine, counted over all servers. */
  sessionNumber = 0;
  readonly #socket: WebSocket;
  readonly #ports: SessionPorts;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #intake: SessionIntake;
  readonly #news = new SessionNews();
  readonly #outgoing: SessionPush;
  #leaseMs = 0;
  /** When a stored message last extended the machine's heartbeat lease. */
  #touchedMs: number;
  /** The registration of this connection until the agent is known to have stored its session proof. */
  #unconfirmed: Registration | undefined;
  /** Server addresses that this agent was told; undefined for an agent that is told none. */
  #toldAddresses: readonly string[] | undefined;

  constructor(
    socket: WebSocket,
    machineId: MachineId,
    ports: SessionPorts,
    { clock, log }: { readonly clock: Clock; readonly log: Log },
  ) {
    this.#socket = socket;
    this.machineId = machineId;
    this.#ports = ports;
    this.#clock = clock;
    this.#log = log;
    this.#intake = new SessionIntake(socket, clock);
    this.#touchedMs = this.#intake.lastHeardMs;
    this.#outgoing = new SessionPush({
      loadDesired: () => ports.loadDesired(machineId),
      loadTasks: () => ports.loadTasks(machineId),
      send: (message) => this.send(message),
      onFailure: (error) => {
        // Closing repairs everything: the agent connects again and gets its full desired set and its open tasks.
        log.error({ err: error, machine_id: machineId }, "reading the desired set or the tasks of a machine failed");
        socket.close(1011, "reading the desired set or the tasks failed");
      },
    });
  }

  start(
    admission: Admission,
    told: Partial<Pick<Welcome, "address_nonce" | "servers" | "release" | "release_key">> = {},
  ): void {
    const { machineId: machine_id, sessionProof: session_proof, leaseMs: lease_ms } = admission;
    if (session_proof !== "") this.#unconfirmed = admission;
    this.#leaseMs = lease_ms;
    this.sessionNumber = admission.sessionNumber;
    this.heartbeatMs = this.#ports.heartbeatMs(lease_ms);
    this.#socket.on("message", (data) => this.#receive(textOf(data)));
    if (told.servers !== undefined) this.#toldAddresses = this.#ports.serverAddresses();
    const intervals = { heartbeat_ms: this.heartbeatMs, measure_ms: this.#ports.measureMs() };
    this.send({ kind: "welcome", machine_id, ...intervals, lease_ms, session_proof, ...told });
    this.#outgoing.pushAll();
  }

  /** The monotonic time of the last sign of life; time in which no message could be read counts as one. */
  get lastHeardMs(): number {
    return this.#intake.lastHeardMs;
  }

  /** The monotonic time at which the last message arrived, however long it waits to be stored. */
  get lastWordMs(): number {
    return this.#intake.lastWordMs;
  }

  /** The last reported inventory; undefined until the first report of this connection is stored. */
  get inventory(): Inventory | undefined {
    return this.#news.inventory;
  }

  /** Sends the desired set soon; several calls while one is being read become one more. */
  push(): void {
    this.#outgoing.pushDesired();
  }

  /** Sends open tasks soon, after the desired set that they may be about. */
  pushTasks(): void {
    this.#outgoing.pushTasks();
  }

  /** Closes and waits until what was received is stored. */
  async end(code: number, reason: string): Promise<void> {
    this.#socket.close(code, reason);
    await this.#intake.stored();
  }

  /** Waits until what was received is stored; returns the counters that wait to be stored with a later report. */
  async stored(): Promise<UnstoredCounters | undefined> {
    await this.#intake.stored();
    return this.#news.unstored;
  }

  terminate(): void {
    this.#socket.terminate();
  }

  /** Ends a connection whose machine has a newer one. */
  supersede(): void {
    this.#socket.close(4000, "the same machine connected again");
  }

  refuse(code: string, message: string): void {
    refuse(this.#socket, code, message);
  }

  /** True when an agent is at the other end now. */
  async answers(): Promise<boolean> {
    const socket = this.#socket;
    if (socket.readyState !== socket.OPEN) return false;
    // The messages that wait to be stored came from the agent, and while they wait no answer is read.
    if (socket.isPaused) return true;
    const over = new AbortController();
    const answer = new Promise<boolean>((resolve) => {
      socket.once("pong", () => resolve(true));
      socket.once("close", () => resolve(false));
      void this.#clock.sleep(ANSWER_MS, over.signal).then(() => resolve(false));
    });
    socket.ping();
    const isThere = await answer;
    over.abort();
    return isThere;
  }

  #receive(text: string): void {
    const decoded = decodeAgentMessage(text);
    const message = decoded.ok ? decoded.message : undefined;
    if (message?.kind === "measurements") {
      // No sign of life: only reports tell for how long a machine was in touch.
      this.#ports.measure(this.machineId, message, this.#outgoing.orders.gpusOf);
      return;
    }
    this.#intake.hear();
    if (!decoded.ok || message === undefined || message.kind === "hello") {
      refuse(this.#socket, "malformed", decoded.ok ? "one hello is enough" : decoded.problem);
      return;
    }
    if (message.kind === "task_result") this.#outgoing.orders.noteAnswer(message.task_id);
    const receivedAt = this.#clock.now();
    this.#intake.take(() => this.#record(message, receivedAt));
  }

  async #record(message: Report | TaskMessage, receivedAt: Date): Promise<void> {
    try {
      if (message.kind === "report") await this.#recordReport(message, receivedAt);
      else await this.#ports.recordTask(this.machineId, message);
    } catch (error) {
      this.#log.error({ err: error, machine_id: this.machineId }, `storing a ${message.kind} message failed`);
      this.#socket.close(1011, `the ${message.kind} could not be stored`);
    }
  }

  async #recordReport(report: Report, receivedAt: Date): Promise<void> {
    const beganMs = this.#clock.monotonicMs();
    const news = this.#news.compare(report, beganMs);
    const isCovered = beganMs - this.#touchedMs < touchEveryMs(this.#leaseMs);
    // A heartbeat of an idle machine only says that it lives: the stored one covers the next ones too.
    if (!news.isRepeat || news.isHealthNews || !news.isIdle || !isCovered) {
      if (!(await this.#ports.record(this.machineId, this.#received(report, news, receivedAt))))
        return this.supersede();
      this.#touchedMs = beganMs;
      this.#news.noteCounters(report, news, receivedAt, beganMs);
    }
    this.#news.noteHealth(news);
    if (this.#unconfirmed !== undefined && report.is_proof_lost !== true) {
      await this.#ports.confirmProof(this.#unconfirmed);
      this.#unconfirmed = undefined;
    }
    this.#news.noteStored(report, news);
    this.#acknowledge(report);
  }

  #received(report: Report, { isRepeat, isHealthNews, isCountNews }: News, receivedAt: Date): ReceivedReport {
    const { orders } = this.#outgoing;
    const [obeyed, gpuUse] = [orders.obeyedIn(report), gpuUseIn(report, orders.gpusOf)];
    const { sessionNumber } = this;
    return { report, sessionNumber, receivedAt, isRepeat, obeyed, isHealthNews, isCountNews, gpuUse };
  }

  #acknowledge({ sequence }: Report): void {
    const heartbeat_ms = this.#ports.heartbeatMs(this.#leaseMs);
    const isOther = heartbeat_ms !== this.heartbeatMs;
    this.heartbeatMs = heartbeat_ms;
    this.send({ kind: "acknowledge", sequence, ...(isOther ? { heartbeat_ms } : {}), ...this.#newAddresses() });
  }

  #newAddresses(): { readonly server_addresses?: string[] } {
    if (this.#toldAddresses === undefined || this.#toldAddresses === this.#ports.serverAddresses()) return {};
    return { server_addresses: [...(this.#toldAddresses = this.#ports.serverAddresses())] };
  }

  /** Sends a message to the agent, if it is still connected. */
  send(message: ServerMessage): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(JSON.stringify(message));
  }
}

/** The text of a message in any form that the socket delivers. */
export function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString("utf8");
  return (Buffer.isBuffer(data) ? data : Buffer.from(data)).toString("utf8");
}

/** Sends the reason and closes. */
export function refuse(socket: WebSocket, code: string, message: string): void {
  const refusal: ServerMessage = { kind: "refuse", code, message };
  if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(refusal));
  socket.close(4400, code);
}
