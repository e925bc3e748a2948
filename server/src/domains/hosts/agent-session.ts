import type { RawData, WebSocket } from "ws";
import {
  decodeAgentMessage,
  type DesiredInstance,
  type Report,
  type ServerMessage,
} from "../../../../protocol/index.ts";
import type { Clock } from "../../base/clock.ts";
import type { MachineId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import { HEARTBEAT_MS, LEASE_MS } from "./service.ts";

/** Reports that wait to be stored; with more, the connection is not read until some are. */
const WAITING_MAX = 4;

/** A report with what only its connection can tell. */
export type ReceivedReport = {
  readonly report: Report;
  /** It says what the last stored one said, counters aside, and follows the same orders. */
  readonly isRepeat: boolean;
  /**
   * Instances that the host was told to have down, in the generation of its report, before it looked: only for these is
   * "it does not run" a receipt. An earlier look may have been at a container that was just about to start.
   */
  readonly obeyed: ReadonlySet<number>;
};

/** What a session needs of the gateway that holds it. */
export type SessionPorts = {
  readonly loadDesired: (machineId: MachineId) => Promise<readonly DesiredInstance[]>;
  readonly record: (machineId: MachineId, received: ReceivedReport) => Promise<void>;
};

type Stand = { readonly generation: number; readonly sinceVersion: number };

/** One connection of one machine, from its welcome to its end. */
export class AgentSession {
  lastHeardMs: number;
  private readonly socket: WebSocket;
  private readonly machineId: MachineId;
  private readonly ports: SessionPorts;
  private readonly log: Log;
  private readonly clock: Clock;
  private version = 0;
  private isPushing = false;
  private isPushDue = false;
  private waitingCount = 0;
  private recording: Promise<void> = Promise.resolve();
  private lastSaid: string | undefined;
  /** Since which version each instance has been ordered down, in which generation. */
  private ordersDown = new Map<number, Stand>();

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
  }

  start(): void {
    this.socket.on("message", (data) => this.receive(textOf(data)));
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
        this.noteOrders(instances);
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

  private noteOrders(instances: readonly DesiredInstance[]): void {
    const before = this.ordersDown;
    this.ordersDown = new Map();
    for (const { instance_id: id, generation, run } of instances) {
      if (run === "running") continue;
      const known = before.get(id);
      const sinceVersion = known?.generation === generation ? known.sinceVersion : this.version;
      this.ordersDown.set(id, { generation, sinceVersion });
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
    this.waitingCount += 1;
    if (this.waitingCount >= WAITING_MAX) this.socket.pause();
    // One after the other, so that an older report never overwrites a newer one.
    this.recording = this.recording.then(() => this.record(report));
  }

  private async record(report: Report): Promise<void> {
    try {
      const gist = gistOf(report);
      const isRepeat = gist === this.lastSaid;
      await this.ports.record(this.machineId, { report, isRepeat, obeyed: this.obeyedIn(report) });
      this.lastSaid = gist;
      this.send({ kind: "acknowledge", sequence: report.sequence });
    } catch (error) {
      this.log.error({ err: error, machine_id: this.machineId }, "a report could not be stored");
      this.socket.close(1011, "the report could not be stored");
    } finally {
      // While it waited for us it could not be heard.
      this.lastHeardMs = this.clock.monotonicMs();
      this.waitingCount -= 1;
      if (this.waitingCount < WAITING_MAX && this.socket.isPaused) this.socket.resume();
    }
  }

  private obeyedIn(report: Report): ReadonlySet<number> {
    const obeyed = new Set<number>();
    for (const { instance_id: id, generation } of report.instances) {
      const order = this.ordersDown.get(id);
      if (order?.generation === generation && order.sinceVersion <= report.desired_version) obeyed.add(id);
    }
    return obeyed;
  }

  private send(message: ServerMessage): void {
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

/** The orders it follows are part of it: the same state means something else once more was asked for. */
function gistOf({ desired_version: version, instances }: Report): string {
  return JSON.stringify([version, instances.map(({ counters: _, ...said }) => said)]);
}
