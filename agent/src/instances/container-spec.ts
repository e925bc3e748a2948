import type { DesiredInstance } from "../../../protocol/index.ts";
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
  readonly host_key: string;
  readonly public_ipaddr: string;
  readonly bind_address: string;
  readonly cpu_cores: number;
  /** Devices that exist; declared and simulated ones are leased but never passed. */
  readonly real_gpu_uuids: ReadonlySet<string>;
};

/** What the host has got ready for one container. */
export type Provision = {
  /** What to make it from: a name, or an image id where exactly that one has to be below the disk. */
  readonly image: string;
  readonly image_id: string;
  readonly network: string | null;
  /** Where programs on the network reach the server; undefined where they cannot. */
  readonly relay_url: string | undefined;
  readonly mounts: readonly Mount[];
  readonly image_volumes: ContainerSpec["image_volumes"];
};

const MILLIS_PER_CORE = 1000;
/** By which workers and the command line in a container find the server; an order that has them knows better. */
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
    name: settledName(order.instance_id, order.generation),
    image: provision.image,
    labels: {
      [LABEL_HOST]: context.host_key,
      [LABEL_INSTANCE]: String(order.instance_id),
      [LABEL_GENERATION]: String(order.generation),
      [LABEL_GPUS]: order.gpu_uuids.join(","),
      [LABEL_RECIPE]: recipeOf(order, context.real_gpu_uuids),
      [LABEL_REVISION]: String(order.revision),
      [LABEL_IMAGE]: provision.image_id,
      ...(order.command.mode === "shell" ? { [LABEL_NOTICE_SIGNAL]: "SIGUSR1" } : {}),
      ...(ssh ? { [LABEL_SSH_PORT]: String(ssh.binding.host_port) } : {}),
    },
    env: buildEnvironment(order, ports, { ...context, ...provision }),
    entrypoint: launch.entrypoint,
    command: launch.command,
    has_init: launch.has_init,
    hostname: order.hostname,
    user: order.user,
    network: provision.network,
    mounts: provision.mounts,
    image_volumes: provision.image_volumes,
    bind_address: context.bind_address,
    ports: ports.filter((port) => port !== ssh).map((port) => port.binding),
    gpu_uuids: order.gpu_uuids.filter((uuid) => context.real_gpu_uuids.has(uuid)),
    // The engine refuses more processors than the machine has.
    cpu_millis: Math.min(order.cpu_millis, context.cpu_cores * MILLIS_PER_CORE),
    memory_bytes: order.memory_bytes,
  };
}

/** Whether the agent's own SSH server answers at this port, instead of a program of the image. */
function isPlatformSsh(order: DesiredInstance, port: DesiredInstance["ports"][number]): boolean {
  return order.ssh !== null && port.container_port === SSH_PORT && port.protocol === "tcp";
}

/**
 * The order's variables plus those that only the host knows (docs/contract-rules.md#variables-of-a-container). The
 * host's own win over equal names of a renter: `NVIDIA_VISIBLE_DEVICES` in particular would otherwise open every GPU of
 * the machine on hosts whose default runtime reads it.
 */
export function buildEnvironment(
  order: DesiredInstance,
  ports: readonly ChosenPort[],
  { public_ipaddr, relay_url }: Pick<SpecContext, "public_ipaddr"> & Pick<Provision, "relay_url">,
): readonly (readonly [string, string])[] {
  const server = relay_url === undefined ? [] : SERVER_VARIABLES.map((name) => [name, relay_url] as const);
  const env = new Map<string, string>([...server, ...order.env]);
  env.set("PUBLIC_IPADDR", public_ipaddr);
  for (const { request, binding } of ports) {
    env.set(`VAST_${request.protocol.toUpperCase()}_PORT_${request.container_port}`, String(binding.host_port));
  }
  env.set("GPU_COUNT", String(order.gpu_uuids.length));
  env.set("NVIDIA_VISIBLE_DEVICES", "void");
  return [...env];
}
