import type { DesiredInstance } from "../src/wire/messages.ts";

/** An order for a container that runs until it is stopped. */
export function order(instanceId: number, changes: Partial<DesiredInstance> = {}): DesiredInstance {
  return {
    instanceId,
    generation: 1,
    revision: 0,
    run: "running",
    image: "example/app:latest",
    registryAuth: null,
    command: { mode: "entrypoint", entrypointShell: null, args: null },
    env: [],
    ports: [],
    hostname: null,
    user: null,
    ssh: null,
    gpuUuids: [],
    cpuMillis: 0,
    memoryBytes: 0,
    diskBytes: 100_000_000,
    mounts: [],
    ...changes,
  };
}
