import { asId, type InstanceId, type MachineId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { describeMachines } from "../../../supply/hosts/index.ts";
import { isReachable, statusOf } from "../rules/status.ts";
import { listInstancesById } from "../store.ts";

/** The place of a published port of an instance, or the reason why it has none now. */
export type PublishedPort =
  | { readonly kind: "open"; readonly instanceId: InstanceId; readonly machineId: MachineId }
  | { readonly kind: "unknown" }
  | { readonly kind: "stopped" }
  | { readonly kind: "offline" }
  | { readonly kind: "old_agent" };

/** The port that renters reach by SSH clients, which speak no HTTP. */
const SSH_PORT = 22;

/**
 * A TCP port that the renter has published, and nothing else: what a container listens on besides stays its own. It needs no
 * key, as the port at the host needs none.
 */
export async function findPublishedPort(
  db: Reader,
  { instanceId, port }: { readonly instanceId: number; readonly port: number },
  now: Date,
): Promise<PublishedPort> {
  const [instance] = await listInstancesById(db, [asId<InstanceId>(instanceId)]);
  if (instance === undefined || port === SSH_PORT) return { kind: "unknown" };
  const machine = (await describeMachines(db, [instance.machineId])).get(instance.machineId);
  if (machine === undefined) return { kind: "unknown" };
  const isRunning = statusOf(instance, { isReachable: true, now }).actual_status === "running";
  const isPublished = instance.observed?.ports[`${port}/tcp`] !== undefined;
  const isAsked = instance.launch.ports.some((asked) => asked.protocol === "tcp" && asked.container_port === port);
  if (!isRunning) return { kind: isAsked || isPublished ? "stopped" : "unknown" };
  if (!isPublished) return { kind: "unknown" };
  if (!isReachable(machine, now)) return { kind: "offline" };
  if (machine.facts.opens_ports !== true) return { kind: "old_agent" };
  return { kind: "open", instanceId: instance.id, machineId: instance.machineId };
}
