import { createHash } from "node:crypto";
import type { DesiredInstance } from "../../../protocol/index.ts";

/**
 * A digest of everything that is fixed when a container is made: the same order gives the same recipe. A container of
 * another recipe is made anew before its next start, on the same disk. Of the GPUs only those count that exist.
 */
export function recipeOf(order: DesiredInstance, real_gpu_uuids: ReadonlySet<string>): string {
  const { image, command, env, ports, hostname, user, cpu_millis, memory_bytes, mounts } = order;
  const gpus = order.gpu_uuids.filter((uuid) => real_gpu_uuids.has(uuid)).toSorted();
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
