import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { WebSocket } from "ws";
import {
  decodeServerMessage,
  type Desired,
  type DesiredInstance,
  type GpuFacts,
  type GpuHealth,
  type Hello,
  type MachineFacts,
  type DesiredVolume,
  type ObservedInstance,
  type ObservedVolume,
  type OpenTunnel,
  type ServerMessage,
  type Task,
  type TaskResult,
  type Welcome,
} from "../../../protocol/index.ts";
import type { Clock } from "../../../server/src/base/clock.ts";
import { asId, type MachineId } from "../../../server/src/base/ids.ts";
import type { Database } from "../../../server/src/db/connect.ts";
import type { Encryption } from "../../../server/src/base/encryption.ts";
import { loadDesired } from "../../../server/src/domains/rental/instances/index.ts";
import { gistOf } from "./desired-gist.ts";
import { aGpu } from "./fake-gpu.ts";
import { FACTS } from "./machines.ts";

export type FakeHostOptions = {
  readonly origin: string;
  readonly token: string;
  readonly clock: Clock;
  readonly database: Database;
  /** How many GPUs; 0 makes a machine that rents out its cores. */
  readonly gpus: number;
  readonly gpuName: string;
  readonly facts: Partial<MachineFacts>;
  readonly hostKey: string;
  readonly fingerprint?: string;
  /** The greeting of an instance's SSH server to a client through a tunnel; undefined where there is no server. */
  readonly greeting?: (instanceId: number) => string | undefined;
  /** Serves a session key or sends a log through the tunnel at this address; without it such tunnels wait in vain. */
  readonly enter?: (request: OpenTunnel, url: string, token: string) => void;
  /** True when the host answers a ping, as every host with a living connection does. */
  readonly answersPings?: boolean;
};

type ReportOptions = {
  /** Says that the proof of the welcome could not be stored. */
  readonly isProofLost?: boolean;
  readonly version?: number;
  readonly gpus?: readonly GpuHealth[];
  readonly volumes?: readonly ObservedVolume[];
};
type Seen = Pick<ObservedInstance, "instance_id" | "generation" | "state"> & Partial<ObservedInstance>;

/** The limit of a wait, far above the time of any step: a machine that runs tests may stand still for minutes. */
const WAIT_MS = 900_000;

/** An agent in the hands of a test: it speaks the real protocol over a real socket and does only what it is told. */
export class FakeHost {
  readonly gpus: readonly GpuFacts[];
  readonly received: ServerMessage[] = [];
  machineId: MachineId = asId<MachineId>(0);
  /** The last desired set of this connection. */
  desired: Desired | undefined;
  closeCode: number | undefined;
  #wasPinged = false;
  /** The proof that the last welcome gave it to show next time. A test that sets it simulates a copy or a loss. */
  proof = "";
  #options: FakeHostOptions;
  readonly #hostKey: string;
  #socket: WebSocket | undefined;
  #sequence = 0;
  #acknowledged = 0;
  /** Running time by instance and generation. */
  readonly #meters = new Map<string, { ms: number; sinceMs: number | undefined }>();

  constructor(options: Pick<FakeHostOptions, "origin" | "token" | "clock" | "database"> & Partial<FakeHostOptions>) {
    this.#options = { gpus: 2, gpuName: "RTX 4090", facts: {}, hostKey: randomUUID(), ...options };
    const { gpus, gpuName, hostKey } = this.#options;
    this.#hostKey = hostKey;
    this.gpus = Array.from({ length: gpus }, (_, index) => aGpu(index, { name: gpuName }));
  }

  hello(overrides: Partial<Hello> = {}): Hello {
    return {
      kind: "hello",
      protocol_version: 2,
      agent_version: "test",
      host_key: this.#hostKey,
      boot_id: "boot",
      fingerprint: this.#options.fingerprint ?? "fingerprint",
      session_proof: this.proof,
      engine: { kind: "simulated", version: "1" },
      machine: { ...FACTS, cpu_cores: 16, disk_bytes: 1_000_000_000_000, ...this.#options.facts },
      gpus: [...this.gpus],
      makes_backups: true,
      copies_to_clouds: true,
      ...overrides,
    };
  }

  /** Connects and waits for the first desired set; throws the refusal or the close code. */
  async connect(overrides: Partial<Hello> = {}): Promise<void> {
    await this.open();
    this.sendText(JSON.stringify(this.hello(overrides)));
    await this.#wait("a desired set", () => {
      const refusal = this.received.find((message) => message.kind === "refuse");
      if (refusal?.kind === "refuse") throw new Error(`refused: ${refusal.code}`);
      if (this.desired === undefined) this.#refuseClosed();
      return this.desired !== undefined;
    });
  }

  /** Connects to a server that took the place of the one that the host knew. */
  async connectTo(origin: string): Promise<void> {
    this.#options = { ...this.#options, origin };
    await this.connect();
  }

  /** Opens the socket and says nothing. */
  async open(): Promise<void> {
    const { origin, token } = this.#options;
    const socket = new WebSocket(`ws://${origin}/agent`, {
      headers: { authorization: `Bearer ${token}` },
      autoPong: this.#options.answersPings ?? true,
    });
    this.#socket = socket;
    this.#sequence = 0;
    this.#acknowledged = 0;
    this.desired = undefined;
    this.closeCode = undefined;
    this.#wasPinged = false;
    this.received.length = 0;
    await new Promise((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    socket.on("error", () => {});
    // Messages of an older connection are not noted for this one.
    const whileOwn = (note: () => void) => this.#socket === socket && note();
    socket.on("message", (data) => whileOwn(() => this.#onMessage(String(data))));
    socket.on("ping", () => whileOwn(() => (this.#wasPinged = true)));
    socket.on("close", (code) => whileOwn(() => (this.closeCode = code)));
  }

  /** Another WebSocket with its credential, to a path below the agents' own. */
  dial(path: string): WebSocket {
    const { origin, token } = this.#options;
    return new WebSocket(`ws://${origin}/agent/${path}`, { headers: { authorization: `Bearer ${token}` } });
  }

  /** The header with which its agent proves itself. */
  bearer(): string {
    return `Bearer ${this.#options.token}`;
  }

  sendText(text: string): void {
    assert.ok(this.#socket);
    this.#socket.send(text);
  }

  /** Waits until the connection is over; returns the close code. */
  async closed(): Promise<number> {
    await this.#wait("the end of the connection", () => this.closeCode !== undefined);
    return this.closeCode ?? 0;
  }

  /** Waits until the server has asked on this connection whether it is still there. */
  async pinged(): Promise<void> {
    await this.#wait("a ping", () => this.#wasPinged);
  }

  /** Disconnects and waits until the server has noted it. */
  async disconnect(): Promise<void> {
    this.#socket?.close(1000);
    await this.closed();
    await this.#wait("the server to note the leave", async () => !(await this.#isConnected()));
  }

  terminate(): void {
    this.#socket?.terminate();
  }

  /**
   * Sends a report and waits until it is stored; throws the close code of an ended connection. The report follows the
   * newest desired set unless a version is given.
   */
  async report(
    seen: readonly Seen[],
    { version = this.desired?.version ?? 0, gpus = [], volumes = [], isProofLost = false }: ReportOptions = {},
  ): Promise<void> {
    this.#sequence += 1;
    const sequence = this.#sequence;
    const instances = seen.map((one): ObservedInstance => ({
      status_msg: "",
      ports: {},
      exit_code: null,
      ssh_host_key: null,
      usage: null,
      counters: { running_ms: 0, received_bytes: 0, sent_bytes: 0 },
      ...one,
    }));
    const lost = isProofLost ? { is_proof_lost: true } : {};
    const seenNow = { desired_version: version, instances, volumes, gpus };
    this.sendText(JSON.stringify({ kind: "report", sequence, ...seenNow, ...lost }));
    await this.#wait(`the acknowledgement of ${sequence}`, () => {
      if (this.#acknowledged < sequence) this.#refuseClosed();
      return this.#acknowledged >= sequence;
    });
  }

  /** Waits until the server has read all messages, stored or not. */
  async read(): Promise<void> {
    const socket = this.#socket;
    if (socket === undefined) throw new Error("it is not connected");
    const answered = new Promise<void>((resolve) => socket.once("pong", () => resolve()));
    socket.ping();
    await answered;
  }

  /** Waits until this connection was given this many tasks; returns all of them. */
  async tasks(count: number): Promise<readonly Task[]> {
    await this.#wait(`${count} tasks`, () => this.#given("task").length >= count);
    return this.#given("task");
  }

  /** The ids of the cancelled tasks, once there is one. */
  async cancelled(): Promise<readonly string[]> {
    await this.#wait("a cancelled task", () => this.#given("cancel_task").length > 0);
    return this.#given("cancel_task").map((message) => message.task_id);
  }

  /** Answers a task and waits until that is stored. */
  async answer(taskId: string, text: string, { is_success = true }: Partial<TaskResult> = {}): Promise<void> {
    this.sendText(JSON.stringify({ kind: "task_result", task_id: taskId, is_success, text }));
    await this.#heard();
  }

  /** Says how far a task has come and waits until that is stored. */
  async progress(taskId: string, text: string, copiedBytes?: number): Promise<void> {
    const amount = copiedBytes === undefined ? {} : { copied_bytes: copiedBytes };
    this.sendText(JSON.stringify({ kind: "task_progress", task_id: taskId, text, ...amount }));
    await this.#heard();
  }

  /**
   * Sends a report and waits until it is stored. Messages are stored in order, so all earlier ones are stored then,
   * too.
   */
  async #heard(): Promise<void> {
    await this.report(this.obedience());
  }

  #given<Kind extends ServerMessage["kind"]>(kind: Kind) {
    return this.received.filter((message): message is Extract<ServerMessage, { kind: Kind }> => message.kind === kind);
  }

  /** The newest desired state of an instance; undefined when the desired set does not name it. */
  order(instanceId: number): DesiredInstance | undefined {
    return this.desired?.instances.find((instance) => instance.instance_id === instanceId);
  }

  /** The newest desired state of a volume. */
  volume(volumeId: number): DesiredVolume | undefined {
    return this.desired?.volumes.find((volume) => volume.volume_id === volumeId);
  }

  /** Waits until this host has got the desired set of the database. */
  async synced(): Promise<void> {
    await this.#wait("the desired set to follow the database", async () => {
      const { database, clock } = this.#options;
      const wanted = await loadDesired(database.kysely, this.machineId, () => "", NO_ENCRYPTION, clock.now());
      return gistOf(wanted) === gistOf(this.desired);
    });
  }

  /** Carries out all orders at once, as a good agent would, and reports it, until no new order comes. */
  async obey(): Promise<void> {
    for (let round = 0; round < 10; round += 1) {
      await this.synced();
      const before = gistOf(this.desired);
      await this.report(this.obedience(), { volumes: this.obedientVolumes() });
      await this.synced();
      if (gistOf(this.desired) === before) return;
    }
    throw new Error("the desired set does not come to rest");
  }

  /**
   * Reports as `obey` does, with another status text, so that the counters are stored at once: reports without news are
   * stored now and then.
   */
  async count(): Promise<void> {
    await this.obey();
    const seen = this.obedience().map((one) => ({ ...one, status_msg: `${one.status_msg} (${this.#sequence})` }));
    await this.report(seen, { volumes: this.obedientVolumes() });
  }

  /** The report of a host that has carried out all its orders. */
  obedience(): readonly Seen[] {
    return (this.desired?.instances ?? []).map(({ instance_id, generation, run, image, ports }) => {
      const counters = { running_ms: this.#meter(instance_id, generation, run === "running"), ...NO_TRAFFIC };
      const bound = ports.map((port, index) => [`${port.container_port}/${port.protocol}`, 40_000 + index] as const);
      return {
        instance_id,
        generation,
        state: run,
        counters,
        status_msg: run === "running" ? `success, running ${image}/args` : run,
        ports: run === "running" ? Object.fromEntries(bound) : {},
      };
    });
  }

  /** The report on volumes of a host that has carried out all its orders: they are empty. */
  obedientVolumes(): readonly ObservedVolume[] {
    const volumes = this.desired?.volumes ?? [];
    return volumes.map(({ volume_id, state }) => ({ volume_id, state, used_bytes: 0, message: "" }));
  }

  #meter(id: number, generation: number, isRunning: boolean): number {
    const key = `${id} ${generation}`;
    const nowMs = this.#options.clock.monotonicMs();
    const meter = this.#meters.get(key) ?? { ms: 0, sinceMs: undefined };
    if (meter.sinceMs !== undefined) meter.ms += nowMs - meter.sinceMs;
    meter.sinceMs = isRunning ? nowMs : undefined;
    this.#meters.set(key, meter);
    return meter.ms;
  }

  async #isConnected(): Promise<boolean> {
    const { rows } = await this.#options.database.pool.query<{ is_connected: boolean }>(
      "select is_connected from machines where id = $1",
      [this.machineId],
    );
    return rows[0]?.is_connected ?? false;
  }

  #onMessage(text: string): void {
    const decoded = decodeServerMessage(text);
    assert.ok(decoded.ok, `the server sent something else: ${text.slice(0, 200)}`);
    const { message } = decoded;
    this.received.push(message);
    if (message.kind === "welcome") this.#onWelcome(message);
    if (message.kind === "desired") this.desired = message;
    if (message.kind === "acknowledge") this.#acknowledged = message.sequence;
    if (message.kind === "open_tunnel") this.#openTunnel(message);
  }

  /**
   * The greeting of an instance's SSH server to a client through a tunnel; undefined where there is no server.
   * Null leaves tunnels to the test.
   */
  protected door(instanceId: number): string | undefined | null {
    return this.#options.greeting === undefined ? null : this.#options.greeting(instanceId);
  }

  /** Opens a tunnel as real agents do. */
  #openTunnel(request: OpenTunnel): void {
    const { tunnel_id, instance_id } = request;
    const { enter, origin, token } = this.#options;
    if (enter !== undefined && (request.session_key !== undefined || request.service === "logs")) {
      return enter(request, `ws://${origin}/agent/tunnel/${tunnel_id}`, token);
    }
    const said = this.door(instance_id);
    if (said === null) return;
    const tunnel = this.dial(`tunnel/${tunnel_id}`);
    tunnel.on("error", () => {});
    tunnel.once("open", () => {
      if (said === undefined) tunnel.close(4404);
      else tunnel.send(Buffer.from(said));
    });
  }

  #onWelcome({ machine_id: machineId, session_proof: proof }: Welcome): void {
    this.machineId = asId<MachineId>(machineId);
    this.proof = proof;
  }

  /** Throws when the connection was closed, since no answer comes any more. */
  #refuseClosed(): void {
    if (this.closeCode !== undefined) throw new Error(`closed: ${this.closeCode}`);
  }

  async #wait(what: string, probe: () => Promise<boolean> | boolean): Promise<void> {
    const end = performance.now() + WAIT_MS;
    while (!(await probe())) {
      if (performance.now() > end) throw new Error(`waited in vain for ${what}`);
      await delay(1);
    }
  }
}

/** Encrypts nothing: encrypted texts play no part in comparisons of hosts. */
const NO_ENCRYPTION: Encryption = { encrypt: (text) => text, decrypt: () => undefined };
const NO_TRAFFIC = { received_bytes: 0, sent_bytes: 0 } as const;
