import type { ContainerSpec, PortBinding } from "../engine.ts";

/**
 * What a tenant's root may do in its own container: Docker's default set without making device nodes, raw sockets,
 * file capabilities (void under no-new-privileges) and writing to the host's audit log.
 */
const CAPABILITIES = [
  "CHOWN",
  "DAC_OVERRIDE",
  "FOWNER",
  "FSETID",
  "KILL",
  "NET_BIND_SERVICE",
  "SETGID",
  "SETPCAP",
  "SETUID",
  "SYS_CHROOT",
] as const;
/** Enough for a training job with a thread per core and library, too few for a fork bomb to hurt the host. */
const PIDS_LIMIT = 16_384;
const NANO_CPUS_PER_MILLI = 1e6;
/** Docker's own default of 64 MB is too small for data loaders that share tensors between processes. */
const SHM_SHARE_OF_MEMORY = 0.5;

/** The body of `POST /containers/create`. */
export function createBody(spec: ContainerSpec): object {
  return {
    Image: spec.image,
    Labels: spec.labels,
    Env: spec.env.map(([name, value]) => `${name}=${value}`),
    ...(spec.entrypoint === null ? {} : { Entrypoint: spec.entrypoint }),
    ...(spec.command === null ? {} : { Cmd: spec.command }),
    ...(spec.hostname === null ? {} : { Hostname: spec.hostname }),
    ExposedPorts: Object.fromEntries(spec.ports.map((port) => [portName(port), {}])),
    HostConfig: {
      Init: spec.has_init,
      Privileged: false,
      CapDrop: ["ALL"],
      CapAdd: CAPABILITIES,
      SecurityOpt: ["no-new-privileges"],
      PidsLimit: PIDS_LIMIT,
      ...limits(spec),
      RestartPolicy: { Name: "no" },
      LogConfig: { Type: "json-file", Config: { "max-size": "10m", "max-file": "3" } },
      PortBindings: portBindings(spec),
      DeviceRequests: deviceRequests(spec.gpu_uuids),
    },
  };
}

function portName(port: PortBinding): string {
  return `${port.container_port}/${port.protocol}`;
}

function limits(spec: ContainerSpec): object {
  const { cpu_millis, memory_bytes } = spec;
  return {
    ...(cpu_millis > 0 ? { NanoCpus: cpu_millis * NANO_CPUS_PER_MILLI } : {}),
    // Swap equal to memory means none: a tenant that swaps slows down everybody's disk.
    ...(memory_bytes > 0
      ? { Memory: memory_bytes, MemorySwap: memory_bytes, ShmSize: Math.floor(memory_bytes * SHM_SHARE_OF_MEMORY) }
      : {}),
  };
}

function portBindings(spec: ContainerSpec): Record<string, object[]> {
  const bindings: Record<string, object[]> = {};
  for (const port of spec.ports) {
    (bindings[portName(port)] ??= []).push({ HostIp: spec.bind_address, HostPort: String(port.host_port) });
  }
  return bindings;
}

/** Devices by name, never a count or "all": which GPUs a container sees is decided by its lease alone. */
function deviceRequests(gpu_uuids: readonly string[]): object[] {
  if (gpu_uuids.length === 0) return [];
  return [{ Driver: "nvidia", DeviceIDs: gpu_uuids, Capabilities: [["gpu"]] }];
}
