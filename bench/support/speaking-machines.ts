import { setImmediate } from "node:timers/promises";
import { WebSocket } from "ws";
import type { Report } from "../../protocol/index.ts";
import { systemClock, type Clock } from "../../server/src/base/clock.ts";
import { createLog } from "../../server/src/base/log.ts";
import type { MachineId } from "../../server/src/base/ids.ts";
import type { Database } from "../../server/src/db/connect.ts";
import { AgentSession } from "../../server/src/domains/supply/hosts/sessions/agent-session.ts";
import { heartbeatMs, LEASE_MS } from "../../server/src/domains/supply/hosts/service.ts";
import { GATHER_MS, ReportRecorder } from "../../server/src/domains/rental/instances/for-assembly.ts";
import type { ManualClock } from "../../test/support/manual-clock.ts";
import type { SeededInstance } from "./seed-instances.ts";

/** Traffic of each instance, in bytes per millisecond. */
const BYTES_PER_MS = { received: 40, sent: 10 };

/** Machines whose reports take the server's path from the text of a message to the tables, without a line in between. */
export class SpeakingMachines {
  readonly heartbeatMs: number;
  readonly #machines: readonly Speaker[];
  readonly #clock: ManualClock;
  readonly #startMs: number;
  #sequence = 0;

  constructor(
    database: Database,
    { clock, instances }: { readonly clock: ManualClock; readonly instances: readonly SeededInstance[] },
  ) {
    this.#clock = clock;
    this.#startMs = clock.now().getTime();
    const byMachine = Map.groupBy(instances, ({ machineId }) => machineId);
    this.heartbeatMs = heartbeatMs(byMachine.size, LEASE_MS);
    const recorder = new ReportRecorder(database, pacedBy(clock), {
      ...{ leaseMs: LEASE_MS, gatherMs: GATHER_MS },
      serverId: () => undefined,
    });
    const log = createLog("silent");
    this.#machines = [...byMachine].map(([machineId, own]) => {
      // As the server makes one for a connection. It never opens: what is said to the agent goes nowhere.
      const socket: WebSocket = Reflect.construct(WebSocket, [null, undefined, {}]);
      const session = new AgentSession(socket, machineId, portsOf(recorder, this.heartbeatMs), { clock, log });
      session.start({ machineId, sessionNumber: 0, sessionProof: "", leaseMs: LEASE_MS });
      return { session, socket, instanceIds: own.map(({ id }) => id) };
    });
  }

  get count(): number {
    return this.#machines.length;
  }

  /** The texts that the machines from `first` up to before `end` would say now. */
  write(first: number, end: number): readonly string[] {
    this.#sequence += 1;
    return this.#machines.slice(first, end).map(({ instanceIds }) => JSON.stringify(this.#reportOf(instanceIds)));
  }

  /** Reports these texts, and waits until the server has stored them. */
  async say(first: number, texts: readonly string[]): Promise<void> {
    const speakers = this.#machines.slice(first, first + texts.length);
    for (const [index, { socket }] of speakers.entries()) {
      socket.emit("message", Buffer.from(texts[index] ?? ""), false);
    }
    await Promise.all(speakers.map(({ session }) => session.stored()));
  }

  /** All of them, one after the other as quickly as they are stored. */
  async sayAll(): Promise<void> {
    const BATCH = 1_000;
    for (let first = 0; first < this.count; first += BATCH) {
      await this.say(first, this.write(first, first + BATCH));
      await setImmediate();
    }
  }

  #reportOf(instanceIds: readonly number[]): Report {
    const ranMs = this.#clock.now().getTime() - this.#startMs;
    return {
      kind: "report",
      sequence: this.#sequence,
      desired_version: 1,
      instances: instanceIds.map((id) => ({
        instance_id: id,
        generation: 1,
        state: "running",
        status_msg: "",
        ports: { "22/tcp": 40_000 + (id % 1_000), "8080/tcp": 41_000 + (id % 1_000) },
        exit_code: null,
        ssh_host_key: null,
        usage: { cpu_percent: 50, memory_bytes: 8_000_000_000, disk_bytes: 4_000_000_000 },
        counters: {
          running_ms: ranMs,
          received_bytes: ranMs * BYTES_PER_MS.received,
          sent_bytes: ranMs * BYTES_PER_MS.sent,
        },
      })),
      volumes: [],
      gpus: [],
    };
  }
}

/** The simulated time, with pauses that really pass. */
function pacedBy(clock: ManualClock): Clock {
  return {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs(),
    sleep: (ms, signal) => systemClock.sleep(ms, signal),
    every: (ms, run) => clock.every(ms, run),
  };
}

type Speaker = {
  readonly session: AgentSession;
  readonly socket: WebSocket;
  readonly instanceIds: readonly number[];
};

function portsOf(recorder: ReportRecorder, everyMs: number) {
  return {
    loadDesired: async () => ({ instances: [], volumes: [] }),
    record: (machineId: MachineId, received: Parameters<ReportRecorder["submit"]>[1]) =>
      recorder.submit(machineId, received),
    loadTasks: async () => ({ tasks: [], cancelledIds: [] }),
    confirmProof: async () => {},
    recordTask: async () => {},
    serverAddresses: () => [],
    heartbeatMs: () => everyMs,
    measureMs: () => 10_000,
    measure: () => {},
  };
}
