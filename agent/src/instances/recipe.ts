import { createHash } from "node:crypto";
import * as wire from "../../../protocol/index.ts";
import { snakeFields } from "../wire/fields.ts";
import type { DesiredInstance } from "../wire/messages.ts";

/**
 * A digest of everything that is fixed when a container is made: the same order gives the same recipe. A container of
 * another recipe is made again before its next start, on the same disk. Only GPUs that exist count.
 */
export function recipeOf(order: DesiredInstance, realGpuUuids: ReadonlySet<string>): string {
  // In the spelling of the wire, since containers carry the digest: a newer agent has to come to the same one.
  const { image, command, env, ports, hostname, user, cpu_millis, memory_bytes, mounts } = snakeFields(
    wire.DesiredInstance,
    order,
  );
  const gpus = order.gpuUuids.filter((uuid) => realGpuUuids.has(uuid)).toSorted();
  const fixed = [
    image,
    command,
    env,
    ports,
    hostname,
    user,
    cpu_millis,
    memory_bytes,
    mounts,
    gpus,
    order.ssh !== null,
  ];
  return createHash("sha256").update(JSON.stringify(fixed)).digest("hex").slice(0, 32);
}
