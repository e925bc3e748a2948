import { Type, type Static } from "typebox";
import { DesiredInstance, DesiredVolume } from "./desired.ts";
import { GpuFacts, MachineFacts } from "./facts.ts";
import { Measurements } from "./measurements.ts";
import { GpuHealth, ObservedInstance, ObservedVolume } from "./observed.ts";
import { AgentRelease, UpdateResult } from "./release.ts";
import { ServerAddresses, ServerList } from "./server-pass.ts";
import { CancelTask, OpenTunnel, Task, TaskProgress, TaskResult } from "./tasks.ts";

export const PROTOCOL_VERSION = 2;

/** First message of an agent. `host_key` names the machine within the credential that opened the connection. */
export const Hello = Type.Object({
  kind: Type.Literal("hello"),
  protocol_version: Type.Integer(),
  agent_version: Type.String({ maxLength: 64 }),
  host_key: Type.String({ minLength: 1, maxLength: 128 }),
  /** Changes with every boot of the host: after a reboot no process of an old boot can still be running. */
  boot_id: Type.String({ minLength: 1, maxLength: 64 }),
  /** Made from the hardware and the installed system: a credential copied to another machine comes with another one. */
  fingerprint: Type.String({ minLength: 1, maxLength: 128 }),
  /** The proof that the last welcome gave; empty before the first. Of two copies of one agent only one can have it. */
  session_proof: Type.String({ maxLength: 128 }),
  engine: Type.Object({
    kind: Type.Union([Type.Literal("docker"), Type.Literal("simulated")]),
    version: Type.String({ maxLength: 64 }),
  }),
  machine: MachineFacts,
  /** A port at which this host can prove its public address; absent where it opens none. */
  address_port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })),
  gpus: Type.Array(GpuFacts, { maxItems: 64 }),
  /**
   * True when the server may measure this machine's uplink with a tunnel of the service `line`; simulated machines have
   * none.
   */
  measures_line: Type.Optional(Type.Boolean()),
  /** True when the agent knows the task `back_up`; an agent of an earlier version would break the connection over it. */
  makes_backups: Type.Optional(Type.Boolean()),
  /** True when the agent knows the task `cloud_copy` and has the program for it. */
  copies_to_clouds: Type.Optional(Type.Boolean()),
  /** True when the agent takes newer versions of itself from its server, as its host has allowed. */
  updates_itself: Type.Optional(Type.Boolean()),
  /** The end of its last attempt to do so. */
  update_result: Type.Optional(UpdateResult),
});
export type Hello = Static<typeof Hello>;

/** The full observed set, sent on every change and at every heartbeat. */
export const Report = Type.Object({
  kind: Type.Literal("report"),
  /** Grows with each report of one connection; the acknowledgement repeats it. */
  sequence: Type.Integer({ minimum: 1 }),
  /** The proof that the welcome gave could not be stored: the one that the hello showed has to stay good. */
  is_proof_lost: Type.Optional(Type.Boolean()),
  /** The desired version that this report has already applied; 0 before the first. */
  desired_version: Type.Integer({ minimum: 0 }),
  instances: Type.Array(ObservedInstance, { maxItems: 4096 }),
  volumes: Type.Array(ObservedVolume, { maxItems: 4096 }),
  gpus: Type.Array(GpuHealth, { maxItems: 64 }),
});
export type Report = Static<typeof Report>;

export const AgentMessage = Type.Union([Hello, Report, Measurements, TaskProgress, TaskResult]);
export type AgentMessage = Static<typeof AgentMessage>;

export const Welcome = Type.Object({
  kind: Type.Literal("welcome"),
  machine_id: Type.Integer({ minimum: 1 }),
  heartbeat_ms: Type.Integer({ minimum: 10 }),
  /** Without an acknowledgement for this long the agent stops every container it runs: the machine may be sold again. */
  lease_ms: Type.Integer({ minimum: 100 }),
  /** The proof that the agent keeps over restarts and shows in the next hello. */
  session_proof: Type.String({ maxLength: 128 }),
  /** Text that the agent sends to every connection at its `address_port`; absent when the server does not call. */
  address_nonce: Type.Optional(Type.String({ maxLength: 128 })),
  /** The servers of this installation; absent where their operator publishes no addresses. */
  servers: Type.Optional(ServerList),
  /** Milliseconds between two measurements; absent where the server keeps none and would refuse the message. */
  measure_ms: Type.Optional(Type.Integer({ minimum: 10 })),
  /** The Ed25519 key, in base64url, by which the installation signs releases of the agent; for agents that update themselves. */
  release_key: Type.Optional(Type.String({ maxLength: 64 })),
  /** A newer version that this agent may take; absent where there is none for it yet. */
  release: Type.Optional(AgentRelease),
});
export type Welcome = Static<typeof Welcome>;

/** Ids from one after `after` up to `until`. */
const IdRange = Type.Object({ after: Type.Integer({ minimum: 0 }), until: Type.Integer({ minimum: 1 }) });

/** The full desired set. A labelled container that it does not name is an orphan and is removed. */
export const Desired = Type.Object({
  kind: Type.Literal("desired"),
  version: Type.Integer({ minimum: 1 }),
  instances: Type.Array(DesiredInstance, { maxItems: 4096 }),
  volumes: Type.Array(DesiredVolume, { maxItems: 4096 }),
  /**
   * Instances that a restored database does not know any more. Orphans among them are stopped and kept. Agents of earlier
   * versions ignore it, and remove them.
   */
  kept_instances: Type.Optional(Type.Array(IdRange, { maxItems: 64 })),
});
export type Desired = Static<typeof Desired>;

/** The report is stored: its counters are safe, and the heartbeat lease begins again at its arrival. */
const Acknowledge = Type.Object({
  kind: Type.Literal("acknowledge"),
  sequence: Type.Integer({ minimum: 1 }),
  /** Milliseconds between reports from now on, when they change: a server with more agents asks for fewer reports. */
  heartbeat_ms: Type.Optional(Type.Integer({ minimum: 10 })),
  /** Addresses of the servers that live now, when they have changed since this connection was told. */
  server_addresses: Type.Optional(ServerAddresses),
});

/** The server will not have this agent; the connection closes after it. */
const Refuse = Type.Object({
  kind: Type.Literal("refuse"),
  code: Type.String(),
  message: Type.String(),
});

export const ServerMessage = Type.Union([Welcome, Desired, Acknowledge, Refuse, Task, CancelTask, OpenTunnel]);
export type ServerMessage = Static<typeof ServerMessage>;
