import type { DesiredInstance } from "../../protocol/index.ts";

/** An order for a container that runs until it is stopped. */
export function order(instance_id: number, changes: Partial<DesiredInstance> = {}): DesiredInstance {
  return {
    instance_id,
    generation: 1,
    revision: 0,
    run: "running",
    image: "example/app:latest",
    registry_auth: null,
    command: { mode: "entrypoint", entrypoint_shell: null, args: null },
    env: [],
    ports: [],
    hostname: null,
    user: null,
    ssh: null,
    gpu_uuids: [],
    cpu_millis: 0,
    memory_bytes: 0,
    disk_bytes: 100_000_000,
    mounts: [],
    ...changes,
  };
}
