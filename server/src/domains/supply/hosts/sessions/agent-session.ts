import type { RawData, WebSocket } from "ws";
import {
  decodeAgentMessage,
  type DesiredInstance,
  type DesiredVolume,
  type ObservedInstance,
  type Report,
  type ServerMessage,
  type Task,
  type TaskProgress,
  type TaskResult,
  type Welcome,
} from "../../../../../../protocol/index.ts";
import type { Clock } from "../../../../base/clock.ts";
import type { MachineId } from "../../../../base/ids.ts";
import type { Log } from "../../../../base/log.ts";
import type { Admission } from "./admission.ts";
import { gpuUseIn, healthIn, type GpuUse } from "./rules/gpu-report.ts";
import { bytesIn, gistOf, usersIn } from "./report-gist.ts";
import { HEARTBEAT_MS, touchEveryMs, type Registration } from "../service.ts";

/** Reports that wait to be stored; with more, the connection is not read until some are. */
const WAITING_MAX = 4;
/** How long the other end may take to answer a ping before its connection counts as dead. */
const ANSWER_MS = 3_000;
/** How often the counters of what goes on as before are stored, and after how much traffic at the latest. */
const COUNT_EVERY_MS = 60_000;
const COUNT_EVERY_BYTES = 256_000_000;

/** A report with what only its connection can tell. */
export type ReceivedReport = {
  readonly report: Report;
  /** The number of the connection that it came on: once the machine has a newer one, nothing of this one counts. */
  readonly sessionNumber: number;
  /** When it arrived, however long it waits to be stored: its counters are of no later time. */
  readonly receivedAt: Date;
  /** It says what the last stored one said, counters aside, and follows the same orders. */
  readonly isRepeat: boolean;
  /**
   * Instances that the host was told to have down, in the generation of its report, before it looked: only for these is
   * "it does not run" a receipt. An earlier look may have been at a container that was just about to start.
   */
  readonly obeyed: ReadonlySet<number>;
  /** Whether a GPU is said to be sick or well for the first time on this connection, or for another reason than before. */
  readonly isHealthNews: boolean;
  /** Whether its counters are to be stored: they are told again and again, and hardly ever say more than that time goes by. */
  readonly isCountNews: boolean;
  /** What the GPUs of its instances do at this moment, by instance. */
  readonly gpuUse: ReadonlyMap<number, GpuUse>;
};

/** The last counters that a machine told and that are not stored yet, and when it told them. */
export type UnstoredCounters = {
  readonly instances: readonly Pick<ObservedInstance, "instance_id" | "generation" | "state" | "counters">[];
  readonly at: Date;
};

/** What a machine has been asked once and has not answered: to be done, and to be left off. */
export type OpenTasks = { readonly tasks: readonly Task[]; readonly cancelledIds: readonly string[] };
export type TaskMessage = TaskProgress | TaskResult;

/** What a session needs of the gateway that holds it. */
export type SessionPorts = {
  readonly loadDesired: (machineId: MachineId) => Promise<{
    readonly instances: readonly DesiredInstance[];
    readonly volumes: readonly DesiredVolume[];
  }>;
  /** Stores a report; false when the machine has a newer connection, here or on another server. */
  readonly record: (machineId: MachineId, received: ReceivedReport) => Promise<boolean>;
  readonly loadTasks: (machineId: MachineId) => Promise<OpenTasks>;
  /** The agent has stored the proof that it was welcomed with. */
  readonly confirmProof: (registration: Registration) => Promise<void>;
  readonly recordTask: (machineId: MachineId, message: TaskMessage) => Promise<void>;
  /** How often the server wants to hear of each machine now. */
  readonly heartbeatMs: (leaseMs: number) => number;
  /** Where agents reach the servers that live now; the same list until that changes. */
  readonly serverAddresses: () => readonly string[];
};

type Told = "to do" | "to leave off" | "answered";
type Stand = { readonly generation: number; readonly sinceVersion: number };

// What most sessions of a large market have: one of each is enough for all.
const NO_ORDERS: ReadonlyMap<number, Stand> = new Map();
const NO_GPUS: ReadonlyMap<number, readonly string[]> = new Map();
const NO_TASKS: ReadonlyMap<string, Told> = new Map();

/** What a machine has, as its agent said last. */
export type Inventory = Pick<Report, "instances" | "volumes">;
const NOTHING_SAID: Inventory = { instances: [], volumes: [] };

/** One connection of one machine, from its welcome to its end. */
export class AgentSession {
  /** Since when it has been silent, as far as it could be heard at all. */
  lastHeardMs: number;
  /** When it said something last: unlike the above, not moved on by how long that took to be stored. */
  lastWordMs: number;
  /** How often the agent was asked to report. */
  heartbeatMs = HEARTBEAT_MS;
  /** Which connection of the machine this is, counted over all servers. */
  sessionNumber = 0;
  private readonly socket: WebSocket;
  readonly machineId: MachineId;
  private readonly ports: SessionPorts;
  private readonly log: Log;
  private readonly clock: Clock;
  private version = 0;
  private isPushing = false;
  private isPushDue = false;
  private areTasksDue = false;
  /** What this connection was told of each task that is not over yet. */
  private toldTasks = NO_TASKS;
  /** Until the agent is known to have stored the proof of this session. */
  private unconfirmed: Registration | undefined;
  private waitingCount = 0;
  private recording: Promise<void> = Promise.resolve();
  private lastSaid: string | undefined;
  private lastInventory: Inventory | undefined;
  private lastHealth = "[]";
  /** Since which version each instance has been ordered down, in which generation. */
  private ordersDown: ReadonlyMap<number, Stand> = NO_ORDERS;
  /** Which GPUs each instance was given, by its last order. */
  private gpusOf: ReadonlyMap<number, readonly string[]> = NO_GPUS;
  /** When something that was stored last extended the machine's lease. */
  private touchedMs: number;
  private leaseMs = 0;
  /** When counters were stored last, and the traffic in them. */
  private countedMs = 0;
  private countedBytes = 0;
  /** Of how many instances it was stored what they use of the machine. */
  private usedCount = 0;
  /** When others were told since. */
  private uncountedAt: Date | undefined;
  /** What this agent knows of where servers are; undefined for one that is told nothing of it. */
  private toldAddresses: readonly string[] | undefined;

  constructor(
    socket: WebSocket,
    machineId: MachineId,
    ports: SessionPorts,
    { clock, log }: { readonly clock: Clock; readonly log: Log },
  ) {
    this.socket = socket;
    this.machineId = machineId;
    this.ports = ports;
    this.clock = clock;
    this.log = log;
    this.lastHeardMs = clock.monotonicMs();
    this.lastWordMs = this.lastHeardMs;
    this.touchedMs = this.lastHeardMs;
  }

  start(admission: Admission, told: Partial<Pick<Welcome, "address_nonce" | "servers">> = {}): void {
    const { machineId: machine_id, sessionProof: session_proof, leaseMs: lease_ms } = admission;
    if (session_proof !== "") this.unconfirmed = admission;
    this.leaseMs = lease_ms;
    this.sessionNumber = admission.sessionNumber;
    this.heartbeatMs = this.ports.heartbeatMs(lease_ms);
    this.socket.on("message", (data) => this.receive(textOf(data)));
    if (told.servers !== undefined) this.toldAddresses = this.ports.serverAddresses();
    this.send({ kind: "welcome", machine_id, heartbeat_ms: this.heartbeatMs, lease_ms, session_proof, ...told });
    this.areTasksDue = true;
    this.push();
  }

  /** Undefined until the first report of this connection is stored. */
  get inventory(): Inventory | undefined {
    return this.lastInventory;
  }

  /** Sends the desired set soon; several calls while one is being read become one more. */
  push(): void {
    this.isPushDue = true;
    if (!this.isPushing) void this.pushWhileDue();
  }

  /** The same for what the machine is asked once, after the desired set that it may be about. */
  pushTasks(): void {
    this.areTasksDue = true;
    if (!this.isPushing) void this.pushWhileDue();
  }

  /** Closes and waits until what was received is stored. */
  async end(code: number, reason: string): Promise<void> {
    this.socket.close(code, reason);
    await this.recording;
  }

  /** Waits until what was received is stored; returns the counters that wait to be stored with a later report. */
  async stored(): Promise<UnstoredCounters | undefined> {
    await this.recording;
    const { uncountedAt: at, lastInventory } = this;
    return at === undefined || lastInventory === undefined ? undefined : { instances: lastInventory.instances, at };
  }

  terminate(): void {
    this.socket.terminate();
  }

  /** Ends a connection whose machine has a newer one. */
  supersede(): void {
    this.socket.close(4000, "the same machine connected again");
  }

  refuse(code: string, message: string): void {
    refuse(this.socket, code, message);
  }

  /** Whether somebody is at the other end now. */
  async answers(): Promise<boolean> {
    const { socket } = this;
    if (socket.readyState !== socket.OPEN) return false;
    // What waits to be stored came from it, and while it waits no answer is read.
    if (socket.isPaused) return true;
    const over = new AbortController();
    const answer = new Promise<boolean>((resolve) => {
      socket.once("pong", () => resolve(true));
      socket.once("close", () => resolve(false));
      void this.clock.sleep(ANSWER_MS, over.signal).then(() => resolve(false));
    });
    socket.ping();
    const isThere = await answer;
    over.abort();
    return isThere;
  }

  private async pushWhileDue(): Promise<void> {
    this.isPushing = true;
    try {
      while (this.isPushDue || this.areTasksDue) {
        if (!this.isPushDue) {
          this.areTasksDue = false;
          this.sendTasks(await this.ports.loadTasks(this.machineId));
          continue;
        }
        this.isPushDue = false;
        const { instances, volumes } = await this.ports.loadDesired(this.machineId);
        this.version += 1;
        this.noteOrders(instances);
        this.send({ kind: "desired", version: this.version, instances: [...instances], volumes: [...volumes] });
      }
    } catch (error) {
      // The agent connects again and asks for everything: closing is the one repair that always works.
      this.log.error({ err: error, machine_id: this.machineId }, "what the host is to do could not be read");
      this.socket.close(1011, "what the host is to do could not be read");
    } finally {
      this.isPushing = false;
    }
  }

  private sendTasks({ tasks, cancelledIds }: OpenTasks): void {
    const before = this.toldTasks;
    const now = new Map<string, Told>();
    for (const task of tasks) {
      const told = before.get(task.task_id);
      if (told === undefined) this.send(task);
      now.set(task.task_id, told ?? "to do");
    }
    for (const id of cancelledIds) {
      const told = before.get(id);
      if (told !== "to leave off" && told !== "answered") this.send({ kind: "cancel_task", task_id: id });
      now.set(id, told === "answered" ? told : "to leave off");
    }
    this.toldTasks = now.size === 0 ? NO_TASKS : now;
  }

  private noteOrders(instances: readonly DesiredInstance[]): void {
    const before = this.ordersDown;
    const now = new Map<number, Stand>();
    for (const { instance_id: id, generation, run, notice } of instances) {
      // Under notice the agent takes it down by itself, and does not start it again.
      if (run === "running" && notice === undefined) continue;
      const known = before.get(id);
      const sinceVersion = known?.generation === generation ? known.sinceVersion : this.version;
      now.set(id, { generation, sinceVersion });
    }
    this.ordersDown = now.size === 0 ? NO_ORDERS : now;
    const gpus = instances.map((instance) => [instance.instance_id, instance.gpu_uuids] as const);
    this.gpusOf = gpus.length === 0 ? NO_GPUS : new Map(gpus);
  }

  private receive(text: string): void {
    this.lastHeardMs = this.clock.monotonicMs();
    this.lastWordMs = this.lastHeardMs;
    const decoded = decodeAgentMessage(text);
    if (!decoded.ok || decoded.message.kind === "hello") {
      refuse(this.socket, "malformed", decoded.ok ? "one hello is enough" : decoded.problem);
      return;
    }
    const { message } = decoded;
    // Whatever is read meanwhile was read before its answer counted: it must not be asked a second time.
    const isAnswer = message.kind === "task_result" && this.toldTasks.has(message.task_id);
    if (isAnswer) this.toldTasks = new Map(this.toldTasks).set(message.task_id, "answered");
    this.waitingCount += 1;
    if (this.waitingCount >= WAITING_MAX) this.socket.pause();
    // One after the other, so that an older report never overwrites a newer one.
    const receivedAt = this.clock.now();
    this.recording = this.recording.then(() => this.record(message, receivedAt));
  }

  private async record(message: Report | TaskMessage, receivedAt: Date): Promise<void> {
    try {
      if (message.kind === "report") await this.recordReport(message, receivedAt);
      else await this.ports.recordTask(this.machineId, message);
    } catch (error) {
      this.log.error({ err: error, machine_id: this.machineId }, `a ${message.kind} could not be stored`);
      this.socket.close(1011, `the ${message.kind} could not be stored`);
    } finally {
      // While it waited for us it could not be heard.
      this.lastHeardMs = this.clock.monotonicMs();
      this.waitingCount -= 1;
      if (this.waitingCount < WAITING_MAX && this.socket.isPaused) this.socket.resume();
    }
  }

  private async recordReport(report: Report, receivedAt: Date): Promise<void> {
    const gist = gistOf(report);
    const isRepeat = gist === this.lastSaid;
    const health = healthIn(report);
    const isHealthNews = health !== this.lastHealth;
    const beganMs = this.clock.monotonicMs();
    const isCovered = beganMs - this.touchedMs < touchEveryMs(this.leaseMs);
    const isIdle = report.instances.length === 0 && report.volumes.length === 0;
    const isCountNews = !isRepeat || this.isCountDue(report, beganMs);
    // A heartbeat of an idle machine says nothing but that it lives: what is stored covers the next ones too.
    if (!isRepeat || isHealthNews || !isIdle || !isCovered) {
      const [obeyed, gpuUse] = [this.obeyedIn(report), gpuUseIn(report, this.gpusOf)];
      const { sessionNumber } = this;
      const received = { report, sessionNumber, receivedAt, isRepeat, obeyed, isHealthNews, isCountNews, gpuUse };
      if (!(await this.ports.record(this.machineId, received))) return this.supersede();
      this.touchedMs = beganMs;
      this.noteCounters(received, beganMs);
    }
    this.lastHealth = health;
    if (this.unconfirmed !== undefined && report.is_proof_lost !== true) {
      await this.ports.confirmProof(this.unconfirmed);
      this.unconfirmed = undefined;
    }
    this.lastSaid = gist;
    const { instances, volumes } = report;
    this.lastInventory = isIdle ? NOTHING_SAID : { instances, volumes };
    this.acknowledge(report);
  }

  private isCountDue({ instances }: Report, nowMs: number): boolean {
    if (instances.length === 0) return false;
    if (nowMs - this.countedMs >= COUNT_EVERY_MS) return true;
    // What has just begun to run says what it uses soon after.
    return bytesIn(instances) - this.countedBytes > COUNT_EVERY_BYTES || usersIn(instances) > this.usedCount;
  }

  private noteCounters({ report: { instances }, receivedAt, isCountNews }: ReceivedReport, nowMs: number): void {
    if (isCountNews) {
      this.countedMs = nowMs;
      this.countedBytes = bytesIn(instances);
      this.usedCount = usersIn(instances);
      this.uncountedAt = undefined;
    } else if (instances.length > 0) this.uncountedAt = receivedAt;
  }

  private acknowledge({ sequence }: Report): void {
    const heartbeat_ms = this.ports.heartbeatMs(this.leaseMs);
    const isOther = heartbeat_ms !== this.heartbeatMs;
    this.heartbeatMs = heartbeat_ms;
    this.send({ kind: "acknowledge", sequence, ...(isOther ? { heartbeat_ms } : {}), ...this.newAddresses() });
  }

  private newAddresses(): { readonly server_addresses?: string[] } {
    if (this.toldAddresses === undefined || this.toldAddresses === this.ports.serverAddresses()) return {};
    return { server_addresses: [...(this.toldAddresses = this.ports.serverAddresses())] };
  }

  private obeyedIn(report: Report): ReadonlySet<number> {
    const obeyed = new Set<number>();
    for (const { instance_id: id, generation } of report.instances) {
      const order = this.ordersDown.get(id);
      if (order?.generation === generation && order.sinceVersion <= report.desired_version) obeyed.add(id);
    }
    return obeyed;
  }

  /** Says something to the agent, if it is still there to hear it. */
  send(message: ServerMessage): void {
    if (this.socket.readyState === this.socket.OPEN) this.socket.send(JSON.stringify(message));
  }
}

/** The text of a message in whatever form the socket has it. */
export function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString("utf8");
  return (Buffer.isBuffer(data) ? data : Buffer.from(data)).toString("utf8");
}

/** Says why and closes. */
export function refuse(socket: WebSocket, code: string, message: string): void {
  const refusal: ServerMessage = { kind: "refuse", code, message };
  if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(refusal));
  socket.close(4400, code);
}
