import type { DesiredInstance } from "../wire/messages.ts";
import type { ContainerSpec, Mount } from "../engine/engine.ts";
import {
  LABEL_GENERATION,
  LABEL_GPUS,
  LABEL_HOST,
  LABEL_IMAGE,
  LABEL_INSTANCE,
  LABEL_NOTICE_SIGNAL,
  LABEL_RECIPE,
  LABEL_REVISION,
  LABEL_SSH_PORT,
  settledName,
} from "./identity.ts";
import { launchOf } from "./launch.ts";
import type { ChosenPort } from "./ports.ts";
import { recipeOf } from "./recipe.ts";

export type SpecContext = {
  readonly hostKey: string;
  readonly publicIpaddr: string;
  readonly bindAddress: string;
  readonly cpuCores: number;
  /** Devices that exist; declared and simulated ones are granted but never passed. */
  readonly realGpuUuids: ReadonlySet<string>;
};

/** Parts of the host that one container is made with. */
export type Provision = {
  /** A name of an image, or the id of the image that the disk was written on. */
  readonly image: string;
  readonly imageId: string;
  readonly network: string | null;
  /** The address at which programs on the network reach the server; undefined when they cannot. */
  readonly relayUrl: string | undefined;
  readonly mounts: readonly Mount[];
  readonly imageVolumes: ContainerSpec["imageVolumes"];
};

const MILLIS_PER_CORE = 1000;
/**
 * Variables by which workers and the command line in a container find the server; values of the order take precedence.
 */
const SERVER_VARIABLES = ["REPORT_ADDR", "VAST_API_URL"] as const;
const SSH_PORT = 22;

/** The whole recipe of one container, from the order, what the host has ready, and the external ports chosen for it. */
export function buildContainerSpec(
  order: DesiredInstance,
  ports: readonly ChosenPort[],
  context: SpecContext,
  provision: Provision,
): ContainerSpec {
  const launch = launchOf(order.command);
  const ssh = ports.find((port) => isPlatformSsh(order, port.request));
  return {
    name: settledName(order.instanceId, order.generation),
    image: provision.image,
    labels: {
      [LABEL_HOST]: context.hostKey,
      [LABEL_INSTANCE]: String(order.instanceId),
      [LABEL_GENERATION]: String(order.generation),
      [LABEL_GPUS]: order.gpuUuids.join(","),
      [LABEL_RECIPE]: recipeOf(order, context.realGpuUuids),
      [LABEL_REVISION]: String(order.revision),
      [LABEL_IMAGE]: provision.imageId,
      ...(order.command.mode === "shell" ? { [LABEL_NOTICE_SIGNAL]: "SIGUSR1" } : {}),
      ...(ssh ? { [LABEL_SSH_PORT]: String(ssh.binding.hostPort) } : {}),
    },
    env: buildEnvironment(order, ports, { ...context, ...provision }),
    entrypoint: launch.entrypoint,
    command: launch.command,
    hasInit: launch.hasInit,
    hostname: order.hostname,
    user: order.user,
    network: provision.network,
    mounts: provision.mounts,
    imageVolumes: provision.imageVolumes,
    bindAddress: context.bindAddress,
    ports: ports.filter((port) => port !== ssh).map((port) => port.binding),
    gpuUuids: order.gpuUuids.filter((uuid) => context.realGpuUuids.has(uuid)),
    // The engine refuses more processors than the machine has.
    cpuMillis: Math.min(order.cpuMillis, context.cpuCores * MILLIS_PER_CORE),
    memoryBytes: order.memoryBytes,
  };
}

/** True when the agent's own SSH server answers at this port, instead of a program of the image. */
function isPlatformSsh(order: DesiredInstance, port: DesiredInstance["ports"][number]): boolean {
  return order.ssh !== null && port.containerPort === SSH_PORT && port.protocol === "tcp";
}

/**
 * The order's variables plus those that only the host knows (docs/contract-rules.md#variables-of-a-container). The
 * host's own win over equal names of a renter: `NVIDIA_VISIBLE_DEVICES` in particular would otherwise open every GPU of
 * the machine on hosts whose default runtime reads it.
 */
export function buildEnvironment(
  order: DesiredInstance,
  ports: readonly ChosenPort[],
  { publicIpaddr, relayUrl }: Pick<SpecContext, "publicIpaddr"> & Pick<Provision, "relayUrl">,
): readonly (readonly [string, string])[] {
  const server = relayUrl === undefined ? [] : SERVER_VARIABLES.map((name) => [name, relayUrl] as const);
  const env = new Map<string, string>([...server, ...order.env]);
  env.set("PUBLIC_IPADDR", publicIpaddr);
  for (const { request, binding } of ports) {
    env.set(`VAST_${request.protocol.toUpperCase()}_PORT_${request.containerPort}`, String(binding.hostPort));
  }
  env.set("GPU_COUNT", String(order.gpuUuids.length));
  env.set("NVIDIA_VISIBLE_DEVICES", "void");
  return [...env];
}
