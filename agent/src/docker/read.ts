import { isIP } from "node:net";
import { dirname } from "node:path";
import { Type, type Static } from "typebox";
import { Compile } from "typebox/compile";
import type {
  Container,
  ContainerPhase,
  ImageFacts,
  NetworkAddress,
  PortBinding,
  Protocol,
  Traffic,
} from "../engine/engine.ts";

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
  NetworkSettings: Type.Optional(
    Type.Object({
      SandboxKey: Type.Optional(Type.String()),
      Networks: Type.Optional(
        Type.Union([Type.Record(Type.String(), Type.Object({ IPAddress: Type.String() })), Type.Null()]),
      ),
    }),
  ),
  GraphDriver: Type.Optional(
    Type.Object({
      Name: Type.String(),
      Data: Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()]),
    }),
  ),
});
const inspected = Compile(Inspected);
const created = Compile(Type.Object({ Id: Type.String() }));
const listed = Compile(Type.Array(Type.Object({ Id: Type.String() })));
const version = Compile(
  Type.Object({ Version: Type.String(), ApiVersion: Type.String(), MinAPIVersion: Type.Optional(Type.String()) }),
);
const system = Compile(Type.Object({ DockerRootDir: Type.String({ minLength: 1 }), Driver: Type.String() }));
const stats = Compile(
  Type.Object({
    read: Type.String(),
    /** Absent for a container without a network of its own. */
    networks: Type.Optional(
      Type.Record(Type.String(), Type.Object({ rx_bytes: Type.Number(), tx_bytes: Type.Number() })),
    ),
    cpu_stats: Type.Object({ cpu_usage: Type.Object({ total_usage: Type.Number() }) }),
    memory_stats: Type.Object({
      usage: Type.Optional(Type.Number()),
      stats: Type.Optional(Type.Record(Type.String(), Type.Number())),
    }),
  }),
);
const set = Type.Optional(Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]));
const words = Type.Optional(Type.Union([Type.Array(Type.String()), Type.Null()]));
const image = Compile(
  Type.Object({
    Id: Type.String(),
    RepoDigests: Type.Optional(Type.Union([Type.Array(Type.String()), Type.Null()])),
    Config: Type.Optional(
      Type.Union([
        Type.Object({ Volumes: set, ExposedPorts: set, Env: words, Entrypoint: words, Cmd: words }),
        Type.Null(),
      ]),
    ),
  }),
);
const network = Compile(
  Type.Object({
    IPAM: Type.Object({
      Config: Type.Array(Type.Object({ Subnet: Type.Optional(Type.String()), Gateway: Type.Optional(Type.String()) })),
    }),
  }),
);
const event = Compile(Type.Object({ Action: Type.String(), Actor: Type.Object({ ID: Type.String() }) }));

/** Readers here return undefined for an answer that differs from the engine's documentation. */
export function readContainer(value: unknown): Container | undefined {
  if (!inspected.Check(value)) return undefined;
  const phase = phaseOf(value.State.Status);
  return {
    id: value.Id,
    name: value.Name.replace(/^\//, ""),
    labels: value.Config.Labels ?? {},
    phase,
    exitCode: phase === "exited" ? value.State.ExitCode : null,
    startedAtMs: readTime(value.State.StartedAt),
    finishedAtMs: phase === "exited" ? readTime(value.State.FinishedAt) : null,
    ports: readPorts(value.HostConfig.PortBindings ?? {}),
    network: phase === "running" ? readNetwork(value.NetworkSettings) : null,
    layerDirectory: readLayerDirectory(value.GraphDriver),
  };
}

function readNetwork(settings: Static<typeof Inspected>["NetworkSettings"]): Container["network"] {
  const namespacePath = settings?.SandboxKey ?? "";
  const networks = Object.values(settings?.Networks ?? {});
  const ipAddress = networks.find((network) => network.IPAddress !== "")?.IPAddress ?? "";
  return namespacePath === "" || ipAddress === "" ? null : { ipAddress, namespacePath };
}

/** The IPv4 gateway and subnet of a network; null for a network without, as with special drivers. */
export function readNetworkAddress(value: unknown): NetworkAddress | null {
  if (!network.Check(value)) return null;
  const found = value.IPAM.Config.find(({ Subnet = "", Gateway = "" }) => isCidr(Subnet) && isIP(Gateway) === 4);
  return found?.Subnet === undefined || found.Gateway === undefined
    ? null
    : { gateway: found.Gateway, subnet: found.Subnet };
}

function isCidr(text: string): boolean {
  const [base = "", prefix = ""] = text.split("/");
  return isIP(base) === 4 && /^\d{1,2}$/.test(prefix) && Number(prefix) <= 32;
}

function readLayerDirectory(driver: Static<typeof Inspected>["GraphDriver"]): string | null {
  const upper = driver?.Name === "overlay2" ? driver.Data?.["UpperDir"] : undefined;
  return upper === undefined ? null : dirname(upper);
}

export function readImage(value: unknown): ImageFacts | undefined {
  if (!image.Check(value)) return undefined;
  return {
    id: value.Id,
    repositories: (value.RepoDigests ?? []).map((digest) => digest.slice(0, digest.indexOf("@"))),
    volumes: Object.keys(value.Config?.Volumes ?? {}),
    exposedPorts: Object.keys(value.Config?.ExposedPorts ?? {}).flatMap((name) => readPortName(name) ?? []),
  };
}

export type ImageLaunch = {
  readonly env: readonly string[];
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
};

/** How the image itself is started. */
export function readImageLaunch(value: unknown): ImageLaunch | undefined {
  if (!image.Check(value)) return undefined;
  const { Env, Entrypoint, Cmd } = value.Config ?? {};
  return { env: Env ?? [], entrypoint: Entrypoint ?? [], command: Cmd ?? [] };
}

export function readCreatedId(value: unknown): string | undefined {
  return created.Check(value) ? value.Id : undefined;
}

export function readListedIds(value: unknown): readonly string[] | undefined {
  return listed.Check(value) ? value.map(({ Id }) => Id) : undefined;
}

export function readVersion(value: unknown): { engine: string; api: string; oldestApi: string } | undefined {
  if (!version.Check(value)) return undefined;
  return { engine: value.Version, api: value.ApiVersion, oldestApi: value.MinAPIVersion ?? value.ApiVersion };
}

export type Storage = { readonly path: string; readonly driver: string };

export function readStorage(value: unknown): Storage | undefined {
  return system.Check(value) ? { path: value.DockerRootDir, driver: value.Driver } : undefined;
}

export type Reading = {
  /** Sums all networks of the container. */
  readonly traffic: Traffic;
  readonly memoryBytes: number;
  /** Processor time used so far, and when that was read. */
  readonly cpuNs: number;
  readonly readAtMs: number;
};

/** One reading of use and traffic; undefined also for a container that does not run. */
export function readStats(value: unknown): Reading | undefined {
  if (!stats.Check(value)) return undefined;
  const readAtMs = readTime(value.read);
  if (readAtMs === null) return undefined;
  const networks = Object.values(value.networks ?? {});
  const { usage = 0, stats: parts = {} } = value.memory_stats;
  // Files that nobody uses right now are given back on demand: a disk read once is no memory used. The two names are
  // those of the first and the second version of control groups.
  const idleBytes = parts["total_inactive_file"] ?? parts["inactive_file"] ?? 0;
  return {
    traffic: {
      receivedBytes: networks.reduce((sum, network) => sum + network.rx_bytes, 0),
      sentBytes: networks.reduce((sum, network) => sum + network.tx_bytes, 0),
    },
    memoryBytes: Math.max(0, usage - idleBytes),
    cpuNs: value.cpu_stats.cpu_usage.total_usage,
    readAtMs,
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
    const port = readPortName(name);
    const hostPort = Number(targets?.[0]?.HostPort);
    if (port && Number.isInteger(hostPort)) ports.push({ ...port, hostPort });
  }
  return ports;
}

function readPortName(name: string): { containerPort: number; protocol: Protocol } | undefined {
  const match = /^(\d+)\/(tcp|udp)$/.exec(name);
  return match ? { containerPort: Number(match[1]), protocol: match[2] === "udp" ? "udp" : "tcp" } : undefined;
}
