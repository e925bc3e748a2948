import { Type, type Static } from "typebox";
import { Compile } from "typebox/compile";
import type { Container, ContainerPhase, PortBinding, Traffic } from "../engine.ts";

/** The parts of the engine's answers that the agent reads; everything else in them is ignored. */
const Inspected = Type.Object({
  Id: Type.String(),
  Name: Type.String(),
  Config: Type.Object({ Labels: Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()]) }),
  State: Type.Object({
    Status: Type.String(),
    ExitCode: Type.Integer(),
    StartedAt: Type.String(),
    FinishedAt: Type.String(),
  }),
  HostConfig: Type.Object({
    PortBindings: Type.Optional(
      Type.Union([
        Type.Record(Type.String(), Type.Union([Type.Array(Type.Object({ HostPort: Type.String() })), Type.Null()])),
        Type.Null(),
      ]),
    ),
  }),
});
const inspected = Compile(Inspected);
const created = Compile(Type.Object({ Id: Type.String() }));
const listed = Compile(Type.Array(Type.Object({ Id: Type.String() })));
const version = Compile(
  Type.Object({ Version: Type.String(), ApiVersion: Type.String(), MinAPIVersion: Type.Optional(Type.String()) }),
);
const system = Compile(Type.Object({ DockerRootDir: Type.String({ minLength: 1 }) }));
const stats = Compile(
  Type.Object({
    networks: Type.Record(Type.String(), Type.Object({ rx_bytes: Type.Number(), tx_bytes: Type.Number() })),
  }),
);
const event = Compile(Type.Object({ Action: Type.String(), Actor: Type.Object({ ID: Type.String() }) }));

/** Undefined when the answer is not what the engine's documentation says; so for all readers here. */
export function readContainer(value: unknown): Container | undefined {
  if (!inspected.Check(value)) return undefined;
  const phase = phaseOf(value.State.Status);
  return {
    id: value.Id,
    name: value.Name.replace(/^\//, ""),
    labels: value.Config.Labels ?? {},
    phase,
    exit_code: phase === "exited" ? value.State.ExitCode : null,
    started_at_ms: readTime(value.State.StartedAt),
    finished_at_ms: phase === "exited" ? readTime(value.State.FinishedAt) : null,
    ports: readPorts(value.HostConfig.PortBindings ?? {}),
  };
}

export function readCreatedId(value: unknown): string | undefined {
  return created.Check(value) ? value.Id : undefined;
}

export function readListedIds(value: unknown): readonly string[] | undefined {
  return listed.Check(value) ? value.map(({ Id }) => Id) : undefined;
}

export function readVersion(value: unknown): { engine: string; api: string; oldest_api: string } | undefined {
  if (!version.Check(value)) return undefined;
  return { engine: value.Version, api: value.ApiVersion, oldest_api: value.MinAPIVersion ?? value.ApiVersion };
}

export function readStoragePath(value: unknown): string | undefined {
  return system.Check(value) ? value.DockerRootDir : undefined;
}

/** Sums all networks of the container. */
export function readTraffic(value: unknown): Traffic | undefined {
  if (!stats.Check(value)) return undefined;
  const networks = Object.values(value.networks);
  return {
    received_bytes: networks.reduce((sum, network) => sum + network.rx_bytes, 0),
    sent_bytes: networks.reduce((sum, network) => sum + network.tx_bytes, 0),
  };
}

export function readEvent(value: unknown): { action: string; id: string } | undefined {
  return event.Check(value) ? { action: value.Action, id: value.Actor.ID } : undefined;
}

/** A paused or restarting container holds its devices as a running one does. */
function phaseOf(status: Static<typeof Inspected>["State"]["Status"]): ContainerPhase {
  if (status === "created") return "created";
  return status === "running" || status === "paused" || status === "restarting" ? "running" : "exited";
}

/** The engine writes the year 1 for "never". */
function readTime(text: string): number | null {
  const at = Date.parse(text);
  return Number.isFinite(at) && at > 0 ? at : null;
}

function readPorts(bindings: Readonly<Record<string, readonly { HostPort: string }[] | null>>): PortBinding[] {
  const ports: PortBinding[] = [];
  for (const [name, targets] of Object.entries(bindings)) {
    const match = /^(\d+)\/(tcp|udp)$/.exec(name);
    const host_port = Number(targets?.[0]?.HostPort);
    if (!match || !Number.isInteger(host_port)) continue;
    ports.push({ container_port: Number(match[1]), protocol: match[2] === "udp" ? "udp" : "tcp", host_port });
  }
  return ports;
}
