import type { DesiredInstance } from "../../protocol/index.ts";
import type { ContainerSpec } from "./engine.ts";
import { LABEL_GENERATION, LABEL_GPUS, LABEL_HOST, LABEL_INSTANCE, settledName } from "./identity.ts";
import { launchOf } from "./launch.ts";
import type { ChosenPort } from "./ports.ts";

export type SpecContext = {
  readonly host_key: string;
  readonly public_ipaddr: string;
  readonly bind_address: string;
  readonly cpu_cores: number;
  /** Devices that exist; declared and simulated ones are leased but never passed. */
  readonly real_gpu_uuids: ReadonlySet<string>;
};

const MILLIS_PER_CORE = 1000;

/** The whole recipe of one container, from the order and the external ports chosen for it. */
export function buildContainerSpec(
  order: DesiredInstance,
  ports: readonly ChosenPort[],
  context: SpecContext,
): ContainerSpec {
  const launch = launchOf(order.command);
  return {
    name: settledName(order.instance_id, order.generation),
    image: order.image,
    labels: {
      [LABEL_HOST]: context.host_key,
      [LABEL_INSTANCE]: String(order.instance_id),
      [LABEL_GENERATION]: String(order.generation),
      [LABEL_GPUS]: order.gpu_uuids.join(","),
    },
    env: buildEnvironment(order, ports, context.public_ipaddr),
    entrypoint: launch.entrypoint,
    command: launch.command,
    has_init: launch.has_init,
    hostname: order.hostname,
    bind_address: context.bind_address,
    ports: ports.map((port) => port.binding),
    gpu_uuids: order.gpu_uuids.filter((uuid) => context.real_gpu_uuids.has(uuid)),
    // The engine refuses more processors than the machine has.
    cpu_millis: Math.min(order.cpu_millis, context.cpu_cores * MILLIS_PER_CORE),
    memory_bytes: order.memory_bytes,
    disk_bytes: order.disk_bytes,
  };
}

/**
 * The order's variables plus those that only the host knows (`semantics.md` §7.3). The host's own win over equal
 * names of a renter: `NVIDIA_VISIBLE_DEVICES` in particular would otherwise open every GPU of the machine on hosts
 * whose default runtime reads it.
 */
export function buildEnvironment(
  order: DesiredInstance,
  ports: readonly ChosenPort[],
  public_ipaddr: string,
): readonly (readonly [string, string])[] {
  const env = new Map<string, string>(order.env);
  env.set("PUBLIC_IPADDR", public_ipaddr);
  for (const { request, binding } of ports) {
    env.set(`VAST_${request.protocol.toUpperCase()}_PORT_${request.container_port}`, String(binding.host_port));
  }
  env.set("GPU_COUNT", String(order.gpu_uuids.length));
  env.set("NVIDIA_VISIBLE_DEVICES", "void");
  return [...env];
}
